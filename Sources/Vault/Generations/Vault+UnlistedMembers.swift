import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A member that counted here and counts for nobody any more: the device that made it was left out by its person where nobody had
/// heard of the member, so no closing lists it. Docs/Format.md, "Changing keys".
package struct UnlistedMember: Sendable {
  package let id: MemberID
  /// What it showed as here.
  package let name: String
  /// What made it.
  package let device: DeviceID
  /// By that device's clock; milliseconds since 1970.
  package let made: UInt64
  /// When the device was left out, by the clock of the machine that did; nil if another certificate of it counts.
  package let removed: UInt64?
  /// Whether this person has said on this machine that they do not want it.
  package let isUnwanted: Bool
  /// What a closing has to list: its root, and the links of the device that give nobody anything.
  fileprivate let statements: Set<StatementID>
}

extension Vault {
  /// The members that a device of this person made and that no closing lists, as far as they counted here before this machine
  /// heard that the device is out. What whoever has the device makes after that is none of them; nor is what would have taken
  /// another member's place and was not accepted here.
  package func unlistedMembers() throws(VaultError) -> [UnlistedMember] {
    try context.reloadPeople()
    let entries = try storing(context.store.list("members"))
    var found: [UnlistedMember] = []
    for id in entries.compactMap({ MemberID(hex: $0.name) }).sorted() {
      if let member = try unlistedMember(id) { found.append(member) }
    }
    return found
  }

  /// - Returns: nil for any other member.
  func unlistedMember(_ id: MemberID) throws(VaultError) -> UnlistedMember? {
    let files = try context.state.loadLinkMemory(of: id).files
    let path = VaultPath.memberRoot(id)
    guard let file = files[path] else { return nil }
    let root: MemberRoot
    do { root = try MemberRoot(decoding: SignedFile(decoding: file).body) } catch {
      throw VaultError(error, path: path.string)
    }
    let trust = context.people.trust
    guard root.person == person, trust.device(root.certificate) == .former,
      !trust.stands(id.root, by: root.certificate),
      root.renews == nil || memberNames.name(of: id) != nil,
      let device = trust.statements.certificates[root.certificate]?.device
    else { return nil }
    var statements: Set<StatementID> = [id.root]
    for (path, bytes) in files {
      guard case .link(_, let link) = path else { continue }
      if try givesNothing(bytes, at: path, by: root.certificate) { statements.insert(link) }
    }
    return UnlistedMember(
      id: id, name: nameOfClosed(id), device: device, made: root.time,
      removed: try context.ownPerson().removal(of: device),
      isUnwanted: try unwantedMembers().contains(id), statements: statements)
  }

  /// Whether it is a link of this certificate's that begins an epoch, names wraps or takes away, and nothing else: whoever has
  /// the device may have given access before this machine had heard that it is out. But whom it took out is to stay out.
  private func givesNothing(
    _ bytes: [UInt8], at path: VaultPath, by certificate: StatementID
  ) throws(VaultError) -> Bool {
    do {
      let link = try Link(decoding: SignedFile(decoding: bytes).body)
      guard link.certificate == certificate, link.place != nil, link.confirmed.isEmpty else {
        return false
      }
      return link.changes.allSatisfy { change in
        switch change {
        case .limit: true
        // It takes an offer back.
        case .offer(let taker): taker == link.person
        case .give, .handOver, .agree: false
        }
      }
    } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// Has members count again: a closing lists them, which lets all devices stay. They are open when this returns, where this
  /// person has their keys, which whoever has the removed device has as well: their owners begin new epochs.
  ///
  /// What the device gave of them stays without effect; their owners can give it again. So is what it took from another owner, as
  /// far as that confirms what they had given; whom it took out otherwise stays out.
  ///
  /// - Parameters:
  ///   - members: Some of `unlistedMembers`.
  ///   - words: This person's.
  /// - Throws: As `beginGeneration(removing:words:)`.
  package func keep(
    _ members: [UnlistedMember], words: borrowing RecoveryWords
  ) throws(VaultError) {
    let own = try personToClose()
    try own.requireLast(words.rootSigningKey(binding: context.binding).publicKey)
    let statements = members.reduce(into: Set<StatementID>()) { $0.formUnion($1.statements) }
    try close(
      own, Leaving([]), listing: statements, signedWith: words, endorsedBy: words)
    _ = try refreshMembers()
  }
}

/// Which members that no closing lists this person does not want. Docs/Format.md, "This machine's state".
extension Vault {
  private static let unwantedPath: BlobPath = "unwanted"
  private static let unwantedLimit = 1_024

  /// This machine tells no more, from now on, that the member can be brought back, which it still can. On disk when this returns.
  ///
  /// - Parameter member: One of `unlistedMembers`.
  /// - Throws: `limit` when this was said of too many; `io` and the like.
  package func forget(_ member: UnlistedMember) throws(VaultError) {
    let all = try unwantedMembers().union([member.id])
    guard all.count <= Self.unwantedLimit else {
      throw .limit(what: "members to forget", found: all.count, limit: Self.unwantedLimit)
    }
    let bytes = all.sorted().flatMap(\.bytes)
    try storing(context.state.store.replace(Self.unwantedPath, bytes, durably: true))
    forgetThatItIsUnlisted(member.id)
  }

  private func unwantedMembers() throws(VaultError) -> Set<MemberID> {
    try context.state.loadIDs(at: Self.unwantedPath, limit: Self.unwantedLimit)
  }
}
