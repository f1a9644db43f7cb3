import VaultCrypto

/// Where a password comes from. Never an argument: arguments are seen by everyone on the machine.
enum PasswordSource {
  case file(String)
  case command(String)
  case terminal

  /// The fewest characters of a new password that is typed; one from a file is taken as it is.
  static let leastCount = 8

  /// What was named, else what the environment says, else the terminal.
  static func configured(passwordFile: String?) -> PasswordSource {
    if let path = passwordFile ?? Environment.value("KINVAULT_PASSWORD_FILE") { return .file(path) }
    if let command = Environment.value("KINVAULT_PASSWORD_COMMAND") { return .command(command) }
    return .terminal
  }

  /// The password of a vault.
  func current(_ question: String) throws(CommandError) -> SecretBytes {
    switch self {
    case .file(let path): return try SecretInput.read(path: path)
    case .command(let command): return try SecretInput.read(command: command)
    case .terminal: return try Self.terminal().secret(question)
    }
  }

  /// A new password; one that is typed is asked for twice.
  func new() throws(CommandError) -> SecretBytes {
    switch self {
    case .file(let path): return try SecretInput.read(path: path)
    case .command(let command): return try SecretInput.read(command: command)
    case .terminal: return try Self.newFromTerminal()
    }
  }

  private static func terminal() throws(CommandError) -> TerminalPrompt {
    guard let prompt = TerminalPrompt() else {
      throw .locked(
        "The vault is locked, and there is no terminal to ask for the password. Use --password-file, "
          + "KINVAULT_PASSWORD_FILE or KINVAULT_PASSWORD_COMMAND.")
    }
    return prompt
  }

  private static func newFromTerminal() throws(CommandError) -> SecretBytes {
    try typedTwice(
      "New password: ", least: leastCount,
      tooShort: "That is too short: at least \(leastCount) characters, better a few words.\n",
      failure: "No new password was set.")
  }

  /// In UTF-8.
  static func characterCount(of secret: borrowing SecretBytes) -> Int {
    secret.withUnsafeBytes { bytes in bytes.count { $0 & 0xC0 != 0x80 } }
  }

  static func typedTwice(
    _ question: String, least: Int, tooShort: String, failure: String
  ) throws(CommandError) -> SecretBytes {
    let prompt = try terminal()
    for _ in 0..<5 {
      let first = try prompt.secret(question)
      guard characterCount(of: first) >= least else {
        prompt.show(tooShort)
        continue
      }
      let second = try prompt.secret("The same again: ")
      if first.constantTimeEquals(second) { return first }
      prompt.show("These two differ. Once more.\n")
    }
    throw .refused(failure)
  }
}
