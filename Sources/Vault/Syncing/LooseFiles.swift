import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// Files that hold as they are, and for which nobody stands whose files are carried: whoever can write to a folder or a remote
/// puts any number of them there without any key but their own, under the name of anybody. Docs/Sync.md, "Strangers".
///
/// One that is loose need not stay so: what it waits for may come.
extension SignedTree {
  /// Those of these files, which stand in folders that are carried, that are loose. The cost is linear in the files.
  package func loose(
    among paths: some Sequence<VaultPath>, _ vouching: Vouching
  ) throws(VaultError) -> Set<VaultPath> {
    var judgement = LooseJudgement(tree: self, vouching: vouching)
    var found: Set<VaultPath> = []
    for path in paths where try judgement.isLoose(path) { found.insert(path) }
    return found
  }
}

private struct LooseJudgement {
  private let tree: SignedTree
  private let vouching: Vouching
  private var certificates: AnchoredCertificates
  private var known: [MemberID: Standing] = [:]

  /// Of a member's links those that count or somebody who is carried has signed, and all that these follow: whatever becomes of
  /// one, without it nothing that follows it is placed. And the files that they name as wraps.
  private struct Standing {
    var links: Set<StatementID> = []
    var wraps: Set<FileHash> = []
  }

  init(tree: SignedTree, vouching: Vouching) {
    (self.tree, self.vouching) = (tree, vouching)
    certificates = AnchoredCertificates(tree.people.trust)
  }

  mutating func isLoose(_ path: VaultPath) throws(VaultError) -> Bool {
    switch path {
    // Each has another key, which nobody knows.
    case .deviceRequest: true
    case .closing(let person, let id): tree.people.trust.people[person]?.valid[id] == nil
    case .certificate(_, let id): !certificates.contains(id)
    case .wrap(let person, _, let device):
      !certificates.contains(device, of: tree.people[person])
    case .link(let member, let id): try isLoose(id, of: member)
    case .epochWrap(let member, let name): try !standing(of: member).wraps.contains(name)
    case .vault, .device, .introduction, .memberRoot, .head, .object, .auditSegment: false
    }
  }

  private mutating func isLoose(
    _ link: StatementID, of member: MemberID
  ) throws(VaultError) -> Bool {
    guard let links = try ifWhole(tree.links(of: member)) else { return true }
    if try standing(of: member).links.contains(link) { return false }
    guard let file = links.files[.link(member, link)] else { return true }
    do { return try !isOfCarried(Link(decoding: SignedFile(decoding: file).body)) } catch {
      throw VaultError(error, path: VaultPath.link(member, link).string)
    }
  }

  private mutating func standing(of member: MemberID) throws(VaultError) -> Standing {
    if let standing = known[member] { return standing }
    var standing = Standing()
    if let history = try ifWhole(tree.links(of: member).history) {
      standing.links = history.past { link, counts in counts || isOfCarried(link) }
      for link in standing.links {
        for wrap in history.link(link)?.wraps ?? [] { standing.wraps.insert(wrap.file) }
      }
    }
    known[member] = standing
    return standing
  }

  /// Whether somebody who is carried has signed it, with a key that is theirs or was.
  private mutating func isOfCarried(_ link: Link) -> Bool {
    vouching.carries(link.person) && certificates.contains(link.certificate)
  }
}

/// The certificates that a person's words gave, or a device that has such a one. Anybody can write a closing into a person's
/// folder that is none of theirs, and certificates by it.
private struct AnchoredCertificates {
  private let trust: Trust
  private var known: [StatementID: Bool] = [:]

  init(_ trust: Trust) { self.trust = trust }

  mutating func contains(_ device: DeviceID, of person: Person?) -> Bool {
    for certificate in person?.certificates[device] ?? [] where contains(certificate.id) {
      return true
    }
    return false
  }

  mutating func contains(_ id: StatementID) -> Bool {
    var approved: [StatementID] = []
    var next: StatementID? = id
    var isAnchored = false
    while let id = next {
      if let answer = known[id] {
        isAnchored = answer
        break
      }
      approved.append(id)
      let certificate = trust.statements.certificates[id]
      next = certificate?.approver
      if next == nil, let certificate {
        isAnchored = trust.people[certificate.person]?.valid[certificate.generation] != nil
      }
    }
    for id in approved { known[id] = isAnchored }
    return isAnchored
  }
}
