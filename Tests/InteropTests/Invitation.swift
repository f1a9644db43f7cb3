import Foundation

/// What two people, or two machines, hand to one another outside of the vault (sections 15 and 17 of the format).
struct Invitation {
  let vault, inviter, secret: [UInt8]

  init(_ text: String) throws {
    let digits = text.filter { $0.isLetter || $0.isNumber }.uppercased()
    try Refused.unless(digits.hasPrefix("KIN"), "no invitation")
    let bytes = try Self.base32(digits.dropFirst(3))
    try Refused.unless(bytes.count > 69, "a short invitation")
    let body = Array(bytes.dropLast(4))
    try Refused.unless(Array(body.sha256.prefix(4)) == Array(bytes.suffix(4)), "its checksum")
    try Refused.unless(body[0] == 1, "its version")
    vault = Array(body[1..<17])
    inviter = Array(body[17..<49])
    secret = Array(body[49..<65])
  }

  private static func base32(_ text: Substring) throws -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
    var (bits, count, bytes) = (UInt32(0), 0, [UInt8]())
    for digit in text {
      guard let value = alphabet.firstIndex(of: digit) else { throw Refused("a digit: \(digit)") }
      bits = bits << 5 | UInt32(value)
      count += 5
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
    }
    return bytes
  }
}

extension FrozenVault {
  /// The key of the eight words that approve a device of the person.
  func approvalKey(_ words: [String], person: [UInt8]) throws -> [UInt8] {
    let wordlist = try Self.wordlist()
    let numbers = try words.map { word in
      guard let number = wordlist.firstIndex(of: word) else { throw Refused("no word: \(word)") }
      return number
    }
    try Refused.unless(numbers.count == 8, "\(numbers.count) words")
    let bits = numbers.flatMap { number in (0..<11).reversed().map { UInt8(number >> $0 & 1) } }
    let bytes = stride(from: 0, to: 88, by: 8).map { start in
      bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | $1 }
    }
    let mark = (Array(bytes[2..<10]) + person).sha256.prefix(2)
    // Those that are frozen are of an older program, which showed the first bytes of the person in place of their mark.
    let areTheirs = bytes.starts(with: mark) || bytes.starts(with: person.prefix(2))
    try Refused.unless(
      Array(bytes.prefix(10)).sha256[0] == bytes[10] && areTheirs, "the eight words")
    let stretched = try argon2id(
      Array(bytes.prefix(10)), salt: primitives.vault, passes: 6, memoryKiB: 262_144)
    return primitives.derive(stretched, "device-approval", context: person)
  }

  /// The six words that two people read to each other.
  func comparisonWords(_ one: [UInt8], _ other: [UInt8]) throws -> [String] {
    let people = one.lexicographicallyPrecedes(other) ? one + other : other + one
    let stretched = try argon2id(
      people, salt: primitives.vault, passes: 6, memoryKiB: 262_144)
    let bytes = primitives.derive(stretched, "comparison-words")
    let bits = bytes.flatMap { byte in (0..<8).reversed().map { Int(byte >> $0 & 1) } }
    let wordlist = try Self.wordlist()
    return stride(from: 0, to: 66, by: 11).map { start in
      wordlist[bits[start..<start + 11].reduce(0) { $0 << 1 | $1 }]
    }
  }
}
