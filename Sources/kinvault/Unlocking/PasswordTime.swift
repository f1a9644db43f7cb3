import VaultCrypto

/// How long a check of a password may take on this machine, and so what each guess costs a thief.
enum PasswordTime {
  /// What a new password costs to check here, measured now: a second or two, but for the shortest times. Never less than
  /// the format's least cost.
  static func cost() throws(CommandError) -> Argon2Cost { .calibrated(target: try target()) }

  /// The time, of which `$KINVAULT_PASSWORD_TIME` gives the milliseconds.
  ///
  /// - Throws: `usage` where that is no time that is allowed.
  static func target() throws(CommandError) -> Duration {
    guard let text = Environment.value("KINVAULT_PASSWORD_TIME") else { return .milliseconds(350) }
    guard let milliseconds = Int64(text), allowed.contains(milliseconds) else {
      throw .usage(
        "KINVAULT_PASSWORD_TIME is the time that a password check may take, in milliseconds, from "
          + "\(allowed.lowerBound) to \(allowed.upperBound).")
    }
    return .milliseconds(milliseconds)
  }

  private static let allowed: ClosedRange<Int64> = 1...10_000
}
