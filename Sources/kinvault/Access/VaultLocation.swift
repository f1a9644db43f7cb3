import Glibc
import SystemPackage

/// Finds the vault's folder.
enum VaultLocation {
  /// What was named, else `KINVAULT_VAULT`, else the current folder or the nearest one above it that
  /// is a vault. Absolute, and without links if it exists.
  ///
  /// - Throws: `notFound` where there is none; `notPermitted` where one of those folders may not be entered.
  static func find(named: String?) throws(CommandError) -> FilePath {
    if let named = named ?? Environment.value("KINVAULT_VAULT") { return absolute(named) }
    let current = absolute(".")
    guard let found = nearest(from: current, isVault: { hasDescription($0) }) else {
      if let closed = nearest(from: current, isVault: { mayHaveDescription($0) }) {
        let reason = DeniedFolder.message(for: closed.string)
        throw .notPermitted("Whether there is a vault here cannot be told. \(reason)")
      }
      throw .notFound(
        "No vault here: neither \(current) nor a folder above it is one. Name it with --vault "
          + "FOLDER or KINVAULT_VAULT, or make one: kinvault init --vault FOLDER")
    }
    return found
  }

  /// The first of a folder and those above it that is a vault.
  static func nearest(from folder: FilePath, isVault: (FilePath) -> Bool) -> FilePath? {
    var candidate = folder
    while true {
      if isVault(candidate) { return candidate }
      guard candidate.removeLastComponent() else { return nil }
    }
  }

  /// The path from the root on; links are followed where the path exists.
  static func absolute(_ path: String) -> FilePath {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return FilePath(String(cString: real))
    }
    let path = FilePath(path)
    if path.isAbsolute { return path.lexicallyNormalized() }
    guard let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    return FilePath(String(cString: current)).pushing(path).lexicallyNormalized()
  }

  /// The path from the root on as the person names it, links included; `absolute` where it has `..` in it, which means
  /// something else behind a link.
  static func named(_ path: String) -> FilePath {
    let given = FilePath(path)
    if given.components.contains(where: { $0.kind == .parentDirectory }) { return absolute(path) }
    if given.isAbsolute { return given.lexicallyNormalized() }
    // The shell's own idea of where it is, if it is right.
    guard let shell = Environment.value("PWD"), shell.hasPrefix("/"),
      absolute(shell) == absolute(".")
    else { return absolute(path) }
    return FilePath(shell).pushing(given).lexicallyNormalized()
  }

  /// Whether the folder is one of encrypted files: a vault, or a copy of one.
  static func hasDescription(_ folder: FilePath) -> Bool {
    access(folder.appending("vault.json").string, F_OK) == 0
  }

  /// Whether the folder may be one, being closed to this user.
  private static func mayHaveDescription(_ folder: FilePath) -> Bool {
    access(folder.appending("vault.json").string, F_OK) != 0 && errno == EACCES
  }
}
