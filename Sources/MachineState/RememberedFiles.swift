import VaultCrypto
import VaultModel

/// Files of the vault that this machine keeps in its state, whatever becomes of them in the folder: SHA-256 of the rest,
/// then each path and file, and ids that go with them. Docs/Format.md, "This machine's state".
package struct RememberedFiles: Hashable, Sendable {
  package var files: [VaultPath: [UInt8]] = [:]
  /// Of links: those that ended a tenure and counted.
  package var ends: Set<StatementID> = []
  /// Of links: those that would end a tenure as well, and of which a person has said that another one is the end.
  package var refusedEnds: Set<StatementID> = []

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    for (path, bytes) in files.map({ ($0.key.string, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
      writer.message(1) { writer in
        writer.element(1, Array(path.utf8))
        writer.element(2, bytes)
      }
    }
    for id in ends.sorted() { writer.elementID(2, id) }
    for id in refusedEnds.sorted() { writer.elementID(3, id) }
    return Digest.sha256(writer.bytes).bytes + writer.bytes
  }

  package init(files: [VaultPath: [UInt8]] = [:], ends: Set<StatementID> = []) {
    self.files = files
    self.ends = ends
  }

  package init(decoding file: [UInt8], what: StaticString) throws(ModelError) {
    let message = Array(file.dropFirst(FileHash.byteCount))
    guard Array(file.prefix(FileHash.byteCount)) == Digest.sha256(message).bytes else {
      throw .malformed(what: "\(what)", reason: "its checksum is wrong")
    }
    // Written by this machine: what would not be read any more would shut the vault for good.
    self = try WireReader.read(message, what: what, limit: .max) {
      reader throws(ModelError) in
      var remembered = RememberedFiles()
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1):
          var inner = try reader.message("file")
          let (path, bytes) = try Self.decodeFile(&inner)
          remembered.files[path] = bytes
        case .bytes(2): remembered.ends.insert(try reader.id("end"))
        case .bytes(3): remembered.refusedEnds.insert(try reader.id("refused end"))
        default: _ = try reader.skip(tag)
        }
      }
      return remembered
    }
  }

  private static func decodeFile(
    _ reader: inout WireReader
  ) throws(ModelError) -> (VaultPath, [UInt8]) {
    var path: VaultPath?
    var bytes: [UInt8] = []
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1):
        path = VaultPath(parsing: String(decoding: try reader.bytesInPlace(), as: UTF8.self))
      case .bytes(2): bytes = [UInt8](try reader.bytesInPlace())
      default: _ = try reader.skip(tag)
      }
    }
    guard let path else { throw reader.malformed("a path is not one of the vault's") }
    return (path, bytes)
  }
}
