import VaultCrypto

/// A new PIN for something that counts wrong ones.
enum NewPIN {
  /// A PIN has so many characters at least.
  private static let leastCount = 6
  private static let tooShort = "That is too short: at least \(leastCount) digits or letters."

  /// From a file, else typed twice. Says so where it is weak.
  static func get(file: String?) throws(CommandError) -> SecretBytes {
    let pin = try read(file: file)
    if isTriedFirst(pin) {
      Terminal.note(
        "kinvault: That PIN is one of those that are tried first. The TPM locks itself after some wrong ones, but a guess may "
          + "be right before: another one is safer.")
    }
    return pin
  }

  private static func read(file: String?) throws(CommandError) -> SecretBytes {
    guard let file else {
      return try PasswordSource.typedTwice(
        "New PIN: ", least: leastCount, tooShort: tooShort + "\n", failure: "No PIN was set.")
    }
    let pin = try SecretInput.read(path: file)
    guard PasswordSource.characterCount(of: pin) >= leastCount else {
      throw .refused("The PIN in \(file): \(tooShort)")
    }
    return pin
  }

  /// Whether it is among those that are tried first: a part that is repeated (111111, 121212, 123123), a row (123456, fedcba), or
  /// a day as people write theirs (240983, 24091983, 19830924).
  static func isTriedFirst(_ pin: borrowing SecretBytes) -> Bool {
    pin.withUnsafeBytes { bytes in isRepeated(bytes) || isRow(bytes) || isDay(bytes) }
  }

  private static func isRepeated(_ bytes: UnsafeRawBufferPointer) -> Bool {
    (1...max(1, bytes.count / 2)).contains { period in
      zip(bytes, bytes.dropFirst(period)).allSatisfy { $0 == $1 } && bytes.count % period == 0
    }
  }

  private static func isRow(_ bytes: UnsafeRawBufferPointer) -> Bool {
    [1, -1].contains { step in
      zip(bytes, bytes.dropFirst()).allSatisfy { Int($1) - Int($0) == step }
    }
  }

  private static func isDay(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let areDigits = bytes.allSatisfy { 0x30...0x39 ~= $0 }
    guard [6, 8].contains(bytes.count), areDigits else { return false }
    func number(_ places: Range<Int>) -> Int {
      places.reduce(0) { $0 * 10 + Int(bytes[$1] & 0xF) }
    }
    func isDay(day: Int, month: Int, year: Range<Int>) -> Bool {
      let isThisCentury = year.count < 4 || 1900...2099 ~= number(year)
      return 1...31 ~= number(day..<day + 2) && 1...12 ~= number(month..<month + 2) && isThisCentury
    }
    let yearDigits = bytes.count - 4
    return isDay(day: 0, month: 2, year: 4..<bytes.count)
      || isDay(day: 2, month: 0, year: 4..<bytes.count)
      || isDay(day: yearDigits + 2, month: yearDigits, year: 0..<yearDigits)
  }
}
