import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel

/// Segments of other devices whose entries this machine has compared with the revisions that they name, and which of their
/// entries are not known to be right. Docs/Format.md, "This machine's state".
///
/// So whoever opens the vault need not read those revisions again. Where it is lost, they do.
struct ComparedSegments: Hashable, Sendable {
  /// The positions of the entries that are not known to be right, by the segment; an empty set for one that is
  /// right as a whole.
  var open: [ContentDigest: Set<Int>] = [:]

  init() {}

  /// Forgets what no head names any more.
  mutating func keepOnly(_ heads: HeadsState) {
    let heads = Array(heads.loaded.values) + heads.takenOver.values
    let named = Set(heads.flatMap(\.head.segments))
    open = open.filter { named.contains($0.key) }
  }

  func encoded() -> [UInt8] {
    var writer = WireWriter()
    for (name, positions) in open.sorted(by: { $0.key < $1.key }) {
      writer.message(1) { writer in
        writer.elementID(1, name)
        writer.packed(2, positions.sorted().map(UInt64.init))
      }
    }
    return Digest.sha256(writer.bytes).bytes + writer.bytes
  }

  /// Nil when it is not as it was written.
  init?(decoding file: [UInt8]) {
    let message = Array(file.dropFirst(FileHash.byteCount))
    guard Array(file.prefix(FileHash.byteCount)) == Digest.sha256(message).bytes else { return nil }
    do {
      self = try WireReader.read(message, what: "compared segments", limit: .max) {
        (reader) throws(ModelError) in
        var compared = ComparedSegments()
        while let tag = try reader.next() {
          guard tag == .bytes(1) else {
            _ = try reader.skip(tag)
            continue
          }
          var inner = try reader.message("segment")
          let (name, positions) = try Self.decodeSegment(&inner)
          compared.open[name] = positions
        }
        return compared
      }
    } catch {
      return nil
    }
  }

  private static func decodeSegment(
    _ reader: inout WireReader
  ) throws(ModelError) -> (ContentDigest, Set<Int>) {
    var name: ContentDigest?
    var positions: Set<Int> = []
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): name = try reader.id("segment")
      case .bytes(2):
        var packed = try reader.message("positions")
        while !packed.isAtEnd { positions.insert(Int(clamping: try packed.varint())) }
      default: _ = try reader.skip(tag)
      }
    }
    guard let name else { throw reader.malformed("the segment is missing") }
    return (name, positions)
  }
}

extension StateFolder {
  private static func path(of member: MemberID) -> BlobPath { BlobPath("compared/\(member.hex)") }
  private static let byteLimit = 64 << 20

  /// What was compared of a member; nothing where that is lost or torn.
  func loadCompared(of member: MemberID) throws(VaultError) -> ComparedSegments {
    let file = try readIfUsable(Self.path(of: member), limit: Self.byteLimit)
    return file.flatMap { ComparedSegments(decoding: $0) } ?? ComparedSegments()
  }

  /// Replaces what was remembered of a member. Does not wait for the disk.
  func store(_ compared: ComparedSegments, of member: MemberID) throws(VaultError) {
    let bytes = compared.encoded()
    try storing(store.replace(Self.path(of: member), bytes, durably: false))
  }
}

extension Member {
  /// Keeps for later openings what was compared.
  func keepCompared(_ heads: HeadsState) throws(VaultError) {
    guard !context.isReadOnly else { return }
    do { try context.state.store(heads.compared, of: id) } catch {
      switch error {
      // Then the next opening compares it again.
      case .noSpace, .readOnly: return
      default: throw error
      }
    }
  }
}
