import Glibc

/// Names for what is being written or uploaded: a reader of the vault takes them for nothing of its own.
package enum TemporaryName {
  /// `.<name>.tmp-<process id>-<8 random hex digits>`.
  package static func make(for name: String) -> String {
    let digits = String(UInt32.random(in: .min ... .max), radix: 16)
    let zeros = String(repeating: "0", count: 8 - digits.count)
    return ".\(name).tmp-\(getpid())-\(zeros)\(digits)"
  }

  /// Whether the last name of a path is such a one, of any process: what is there was left by one that was interrupted, or is
  /// being written now.
  package static func ends(_ path: String) -> Bool {
    guard let name = path.split(separator: "/").last, name.hasPrefix(".") else { return false }
    let parts = Array(name.split(separator: "-", omittingEmptySubsequences: false).suffix(3))
    return parts.count == 3 && parts[0].hasSuffix(".tmp") && UInt32(parts[1]) != nil
      && parts[2].utf8.count == 8 && UInt32(parts[2], radix: 16) != nil
  }
}
