import Glibc
import MachineState
import Processes
import SystemPackage
import Vault
import VaultErrors

/// What Kinvault takes from the environment.
enum Environment {
  /// The value of a variable; nil when it is not set or empty.
  static func value(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// All of it, for programs and libraries that look things up themselves.
  static var all: [String: String] {
    var result: [String: String] = [:]
    for variable in ChildProcess.environment {
      let pair = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { result[String(pair[0])] = String(pair[1]) }
    }
    return result
  }

  /// Where this machine keeps what is never part of a vault.
  static var stateRoot: FilePath { StateFolder.defaultRoot(environment: value) }

  /// What a person would call this machine.
  static var hostName: String {
    var buffer = [CChar](repeating: 0, count: 256)
    guard gethostname(&buffer, buffer.count - 1) == 0 else { return "computer" }
    let name = String(
      decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return name.isEmpty ? "computer" : name
  }

  /// The full name of this account, or what it is called when it has none.
  static var userName: String {
    guard let entry = getpwuid(getuid()) else { return "me" }
    let fullName = entry.pointee.pw_gecos.map { String(cString: $0) } ?? ""
    let first = fullName.split(separator: ",", omittingEmptySubsequences: false).first.map(
      String.init)
    if let first, !first.isEmpty { return first }
    return String(cString: entry.pointee.pw_name)
  }
}

extension VaultCopy {
  /// The one that lies in a folder, with what this machine keeps of it.
  ///
  /// - Throws: `notAVault`, `unsupported`, `permission`, `io`.
  static func here(in folder: FilePath) throws(VaultError) -> VaultCopy {
    try find(in: folder, stateRoot: Environment.stateRoot)
  }
}
