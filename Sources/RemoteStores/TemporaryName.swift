import Glibc

/// Names for what is being uploaded: a reader of the vault takes them for nothing of its own.
enum TemporaryName {
  /// `.<name>.tmp-<process id>-<8 random hex digits>`, as a directory store makes them.
  static func make(for name: String) -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    let zeros = String(repeating: "0", count: 8 - digits.count)
    return ".\(name).tmp-\(getpid())-\(zeros)\(digits)"
  }
}
