import VaultCrypto
import VaultModel

/// The bytes of a redo file: records one after the other, each at the beginning of a block. Docs/Format.md, "Redo files".
enum RedoFile {
  /// The file is as long from the beginning, so that a record changes nothing but the bytes of its own.
  static let byteCount = 4 << 20
  /// What a disk writes whole or not at all, at most.
  static let blockSize = 4096
  static let headerSize = 36
  private static let magic: [UInt8] = Array("KVRD".utf8)

  /// A record that was read, and the epoch whose key sealed it.
  struct Entry: Equatable {
    var sequence: UInt64
    var keyID: KeyID
    var record: RedoRecord
    /// Where the next one begins.
    var end: Int
  }

  /// One record as it stands in the file, filled up to whole blocks.
  static func encode(
    _ record: RedoRecord, sequence: UInt64, with epoch: EpochKeys, path: String
  ) -> [UInt8] {
    let sealed = epoch.registerKey.seal(
      record.encoded(), label: .redo, path: path, counter: sequence)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(sealed.ciphertext.count + headerSize + blockSize)
    bytes += magic
    bytes += bigEndian(UInt32(sealed.ciphertext.count))
    bytes += bigEndian(sequence)
    bytes += epoch.keyID.bytes
    bytes += sealed.nonce
    bytes += sealed.ciphertext
    let padding = (blockSize - bytes.count % blockSize) % blockSize
    bytes += repeatElement(0, count: padding)
    return bytes
  }

  /// The records from the file's beginning on whose numbers follow one another; it ends with the first that is torn,
  /// not authentic, or older.
  static func decode(
    _ file: [UInt8], path: String, keys: (KeyID) -> EpochKeys?
  ) -> [Entry] {
    var entries: [Entry] = []
    var position = 0
    while let entry = decode(file, at: position, path: path, keys: keys) {
      if let last = entries.last, entry.sequence != last.sequence + 1 { break }
      entries.append(entry)
      position = entry.end
    }
    return entries
  }

  /// Whether the next record is there and sealed with a key that is not: then nobody can tell what it says.
  ///
  /// - Parameter last: The one before; nil at the beginning of the file.
  static func goesOnSealed(_ file: [UInt8], after last: Entry?, keys: (KeyID) -> EpochKeys?) -> Bool
  {
    let start = last?.end ?? 0
    guard file.count - start >= headerSize, Array(file[start..<start + 4]) == magic,
      let keyID = KeyID(file[(start + 16)..<(start + 24)]), keys(keyID) == nil
    else { return false }
    // What an earlier use of the file has left behind has lower numbers.
    let sequence = number(file[(start + 8)..<(start + 16)])
    return last.map { sequence == $0.sequence + 1 } ?? true
  }

  private static func decode(
    _ file: [UInt8], at start: Int, path: String, keys: (KeyID) -> EpochKeys?
  ) -> Entry? {
    guard file.count - start >= headerSize, Array(file[start..<start + 4]) == magic else {
      return nil
    }
    let length = Int(number(file[(start + 4)..<(start + 8)]))
    let body = start + headerSize
    guard length <= file.count - body, let keyID = KeyID(file[(start + 16)..<(start + 24)]),
      let epoch = keys(keyID)
    else { return nil }
    let sequence = number(file[(start + 8)..<(start + 16)])
    let sealed = Sealed(
      nonce: Array(file[(start + 24)..<body]), ciphertext: Array(file[body..<body + length]))
    // What a power cut has torn, or something else, ends the file: what stands before it counts.
    guard
      let plain = try? epoch.registerKey.open(
        sealed, label: .redo, path: path, counter: sequence),
      let record = try? RedoRecord(decoding: plain)
    else { return nil }
    let end = (body + length + blockSize - 1) / blockSize * blockSize
    return Entry(sequence: sequence, keyID: keyID, record: record, end: end)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
