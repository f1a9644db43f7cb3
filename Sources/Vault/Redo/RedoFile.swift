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

  /// What stands before a record's ciphertext. Nothing vouches for it before that has been opened.
  struct Header {
    let length: Int
    let sequence: UInt64
    let keyID: KeyID
    fileprivate let nonce: [UInt8]

    /// Nil where no record begins.
    init?(_ bytes: ArraySlice<UInt8>) {
      func field(_ range: Range<Int>) -> ArraySlice<UInt8> {
        bytes.dropFirst(range.lowerBound).prefix(range.count)
      }
      guard bytes.count >= RedoFile.headerSize, bytes.starts(with: RedoFile.magic),
        let keyID = KeyID(field(16..<24))
      else { return nil }
      self.keyID = keyID
      length = Int(RedoFile.number(field(4..<8)))
      sequence = RedoFile.number(field(8..<16))
      nonce = Array(field(24..<36))
    }

    /// Of the whole record, which ends with a block.
    var recordByteCount: Int {
      (RedoFile.headerSize + length + RedoFile.blockSize - 1) / RedoFile.blockSize
        * RedoFile.blockSize
    }

    /// Whether a record of this number may stand behind that one; nil: at the beginning of the file.
    func follows(_ last: UInt64?) -> Bool {
      // What an earlier use of the file has left behind has lower numbers.
      last.map { sequence == $0 &+ 1 } ?? true
    }
  }

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
    encode(record.encoded(), sequence: sequence, with: epoch, path: path)
  }

  /// The same of what a record says, encoded.
  static func encode(
    _ plain: [UInt8], sequence: UInt64, with epoch: EpochKeys, path: String
  ) -> [UInt8] {
    let sealed = epoch.registerKey.seal(plain, label: .redo, path: path, counter: sequence)
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

  /// What follows the records that can be read, and that nobody here can tell what it says.
  enum Unread {
    /// It is sealed with a key that is not here.
    case sealed
    /// It is whole, and says something that this version does not know.
    case ofLaterVersion
  }

  /// - Parameter last: The record before; nil at the beginning of the file.
  /// - Returns: Nil where the file ends, with what a power cut has torn, or something else.
  static func unread(
    in file: [UInt8], after last: Entry?, path: String, keys: (KeyID) -> EpochKeys?
  ) -> Unread? {
    let start = last?.end ?? 0
    guard let header = Header(file.dropFirst(start)), header.follows(last?.sequence) else {
      return nil
    }
    guard let epoch = keys(header.keyID) else { return .sealed }
    return plain(of: header, file, at: start, path: path, epoch) == nil ? nil : .ofLaterVersion
  }

  /// The file as far as there are records in it, by their headers: it is mostly zeros, or what an earlier use left.
  ///
  /// - Parameter read: The bytes of a range, fewer only where the file ends.
  static func load<Failure: Error>(
    _ read: (Range<Int>) throws(Failure) -> [UInt8]
  ) throws(Failure) -> [UInt8] {
    var file: [UInt8] = []
    var start = 0
    var last: UInt64?
    while file.count == start, start < byteCount {
      file += try read(start..<start + blockSize)
      guard let header = Header(file[start...]), header.follows(last),
        header.recordByteCount <= byteCount - start
      else { break }
      last = header.sequence
      start += header.recordByteCount
      if file.count < start { file += try read(file.count..<start) }
    }
    return file
  }

  private static func decode(
    _ file: [UInt8], at start: Int, path: String, keys: (KeyID) -> EpochKeys?
  ) -> Entry? {
    guard let header = Header(file.dropFirst(start)), let epoch = keys(header.keyID) else {
      return nil
    }
    // What a power cut has torn, or something else, ends the file: what stands before it counts.
    guard let plain = plain(of: header, file, at: start, path: path, epoch),
      let record = try? RedoRecord(decoding: plain)
    else { return nil }
    return Entry(
      sequence: header.sequence, keyID: header.keyID, record: record,
      end: start + header.recordByteCount)
  }

  /// What a record says; nil where it is not whole, or not authentic.
  private static func plain(
    of header: Header, _ file: [UInt8], at start: Int, path: String, _ epoch: EpochKeys
  ) -> [UInt8]? {
    let body = start + headerSize
    guard header.length <= file.count - body else { return nil }
    let sealed = Sealed(
      nonce: header.nonce, ciphertext: Array(file[body..<body + header.length]))
    return try? epoch.registerKey.open(
      sealed, label: .redo, path: path, counter: header.sequence)
  }

  private static func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}
