import BlobStore
import VaultErrors
import VaultModel
import VaultTrust

/// For whom this machine's person vouches, as a process that had the keys saw it last: Docs/Format.md, "This machine's
/// state". A sync of a locked vault goes by it.
extension StateFolder {
  private static let vouchedPath: BlobPath = "vouched"
  private static let vouchedTitle = "kinvault vouched 1"
  private static let vouchedByteLimit = 16 << 20

  /// - Returns: Nil where no process with the keys has said it yet, or what it said is torn.
  package func loadVouching(of person: PersonID) throws(VaultError) -> Vouching? {
    guard let bytes = try readIfUsable(Self.vouchedPath, limit: Self.vouchedByteLimit),
      let lines = ChecksummedLines(decoding: bytes, title: Self.vouchedTitle)
    else { return nil }
    var people: [PersonID] = []
    var members: [MemberID] = []
    for words in lines.words(upTo: 2) where words.count == 2 {
      switch words[0] {
      case "person": people += PersonID(hex: words[1]).map { [$0] } ?? []
      case "member": members += MemberID(hex: words[1]).map { [$0] } ?? []
      default: continue
      }
    }
    return Vouching(own: person, people: people, members: members)
  }

  /// Says it anew. Does not wait for the disk.
  package func storeVouching(_ vouching: Vouching) throws(VaultError) {
    let lines =
      vouching.people.sorted().map { "person \($0.hex)" }
      + vouching.members.sorted().map { "member \($0.hex)" }
    let bytes = ChecksummedLines.encode(title: Self.vouchedTitle, lines)
    try storing(store.replace(Self.vouchedPath, bytes, durably: false))
  }
}
