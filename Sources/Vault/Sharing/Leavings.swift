import BlobStore
import VaultModel

/// What people themselves give up of their access to one member. Docs/Format.md, "Leaving".
///
/// An owner's next epoch carries it out. Until then the keys are still theirs, and only their own devices go by it.
struct Leavings: Sendable {
  /// Those that count, by person.
  private(set) var counting: [PersonID: LeavingBody] = [:]
  /// Everything that holds, whether it counts or not.
  private(set) var all: [LeavingBody] = []

  init() {}

  /// - Parameter all: Verified, in any order.
  init(_ all: [LeavingBody], in chain: GrantChain) {
    self.all = all
    guard let current = chain.current, let grants = chain.valid[current] else { return }
    for leaving in all.sorted(by: { $0.time < $1.time }) {
      guard let grant = grants[leaving.person], leaving.isOf(grant),
        chain.epochs.isSame(leaving.epoch, orFollowedBy: current)
      else { continue }
      if let known = counting[leaving.person], known.keptRank <= leaving.keptRank { continue }
      counting[leaving.person] = leaving
    }
    // Someone has to be left who can share: of owners who all leave at once the most senior one stays.
    let owners = chain.epochs[current]?.owners ?? []
    if owners.allSatisfy({ counting[$0] != nil }),
      let senior = chain.epochs.mostSenior(of: owners, in: current)
    {
      counting[senior] = nil
    }
  }

  /// Whether the person has said at some time that they want no access any more.
  func hasLeft(_ person: PersonID) -> Bool {
    all.contains { $0.person == person && $0.keeps == nil }
  }

  /// Those that can be carried out: what the person had written on the machine where they said so is here.
  ///
  /// - Parameters:
  ///   - counters: Of the heads that are known, by device.
  ///   - isFormer: Whether heads of a device do not count any more.
  func due(
    known counters: [DeviceID: UInt64], isFormer: (DeviceID) -> Bool
  ) -> [PersonID: LeavingBody] {
    counting.filter { _, leaving in
      leaving.headCounter <= counters[leaving.device] ?? 0 || isFormer(leaving.device)
    }
  }

  /// A time for a new grant to the person which no leaving of before is about.
  func grantTime(for person: PersonID, now: UInt64) -> UInt64 {
    all.filter { $0.person == person }
      .reduce(now) { max($0, Limits.time(after: $1.grantTime)) }
  }

  /// Reads and verifies what people have written about a member.
  static func load(
    member: MemberID, chain: GrantChain, store: any BlobStore, files: SignedFiles, people: People
  ) throws(VaultError) -> Loaded {
    var found: [LeavingBody] = []
    var ids: [StatementID: StatementID] = [:]
    var problems: [Problem] = []
    for person in people.persons.keys.sorted() {
      let folder = BlobPath("people/\(person.hex)/leavings/\(member.hex)")
      for entry in try storing({ () throws(BlobStoreError) in try store.list(folder) }) {
        let path = folder.appending(entry.name).string
        guard case .leaving(_, _, let epoch) = VaultPath(parsing: path) else {
          problems.append(.foreign(path))
          continue
        }
        do throws(VaultError) {
          let (body, id) = try LeavingBody.load(
            person, member, epoch, files: files, people: people)
          found.append(body)
          ids[id] = body.certificate
        } catch {
          problems.append(Problem(error, path: path))
        }
      }
    }
    return Loaded(leavings: Leavings(found, in: chain), ids: ids, problems: problems)
  }

  /// What reading them gives.
  struct Loaded {
    let leavings: Leavings
    /// The statements that they are, each with the certificate that it names.
    let ids: [StatementID: StatementID]
    let problems: [Problem]
  }
}

extension LeavingBody {
  /// Whether it is about this grant, and not about one that was given before or after.
  fileprivate func isOf(_ grant: GrantBody) -> Bool {
    grantTime == grant.time && (keeps.map { $0 < grant.role } ?? true)
  }

  /// The less is kept, the lower.
  var keptRank: Int { keeps.flatMap { Role.allCases.firstIndex(of: $0) }.map { $0 + 1 } ?? 0 }

  /// A person's statement about a member, verified; whether it counts is not said by that.
  ///
  /// - Throws: `missing`; `damaged` when it is another's or its signature does not hold.
  static func load(
    _ person: PersonID, _ member: MemberID, _ epoch: EpochID, files: SignedFiles, people: People
  ) throws(VaultError) -> (body: LeavingBody, id: StatementID) {
    let path = VaultPath.leaving(person, member, epoch)
    let file = try files.load(path)
    let body = try file.decode(LeavingBody.init(decoding:))
    guard body.person == person, body.member == member, body.epoch == epoch else {
      throw .damaged(path: path.string, reason: "it belongs elsewhere")
    }
    return (body, try people.verify(file, .leaving, by: body.certificate, of: person))
  }
}
