import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// The fingerprints of the files that heads are judged by: closings, certificates, links.
package typealias StatementMarks = [BlobPath: UInt64]

/// Who may do what with one member: its links, as `VaultTrust` judges them. Docs/Format.md, "Links and epochs".
package struct MemberLinks: Sendable {
  package let member: MemberID
  package let trust: MemberTrust
  /// The root and all links that are sound.
  package let files: [VaultPath: [UInt8]]
  /// What the folder of the links looked like, sound ones and others.
  package let marks: StatementMarks
  /// Links that this machine could not read just now.
  package let unread: [BlobPath: VaultError]
  /// What this machine remembers and the folder lacks.
  package let lost: [VaultPath: [UInt8]]
  package let problems: [Problem]
  /// The wraps of epochs that are over. Nobody puts them back, or brings them to where they are not.
  package let wrapsThatAreOver: Set<VaultPath>
  /// The links that are carried and kept, whether they count or not.
  package let lasting: Set<StatementID>
  /// Those that counted here once, whose writers have no place by what counts now, and that nothing follows that lasts. They
  /// stay where they are, and nobody is to be blamed for them.
  package let fallen: Set<StatementID>

  /// The wraps of earlier epochs of which this machine does not know whether they are over, since none serves: whose keys count
  /// may be known elsewhere. Nobody puts them back where they have gone meanwhile.
  package var wrapsThatMayBeOver: Set<VaultPath> {
    guard trust.epochs.current == nil else { return [] }
    let earlier = trust.epochs.ranking.dropFirst().filter { history.hasEpoch(after: $0) }
    return Set(
      history.wrapFiles(of: Set(earlier)).map { VaultPath.epochWrap(member, $0) })
  }

  package var history: MemberHistory { trust.history }
  package var access: Access { trust.history.access }
  package var creator: PersonID { trust.history.root.person }

  /// What a person may do at a time in milliseconds since 1970; nil: nothing.
  package func role(of person: PersonID, now: UInt64) -> Role? { access.role(of: person, at: now) }

  /// Whether the person had access at some time that has ended by this one, and nobody took it.
  package func hasEnded(for person: PersonID, now: UInt64) -> Bool {
    access.includes(person) && role(of: person, now: now) == nil
  }

  /// Whether heads of the person's devices counted once.
  package func couldWrite(_ person: PersonID) -> Bool { history.couldWrite(person) }

  /// Whether the person could write, or was right to believe that they could.
  package func couldBelieveToWrite(_ person: PersonID) -> Bool {
    history.couldBelieveToWrite(person)
  }

  /// Those who have the key of an epoch, as links say that count.
  package func holders(of epoch: StatementID) -> Set<PersonID> {
    Set((trust.epochs.wraps[epoch] ?? []).map(\.person))
  }

  /// Whether a link that counts began an epoch with this key.
  package func hasEpoch(_ commitment: FileHash) -> Bool {
    trust.epochs.states.keys.contains { history.link($0)?.epoch == commitment }
  }

  /// Nothing makes such a link count.
  package static let byNoOwner =
    "whoever wrote it was no owner; it is ignored, whatever else comes. What it means to give, an owner can give: "
    + "kinvault share"

  /// What is said of a link that would end a tenure of a place beside the one that counts.
  static func problem(
    of end: PlaceGivenUpTwice.End, besides place: PlaceGivenUpTwice, path: String
  ) -> Problem {
    guard !end.isRefused else {
      return Problem(
        .untrusted, .note, path: path,
        reason:
          "it gives a place up that its holder gave up twice, and was said not to be true here. To see both: kinvault member "
          + "settle")
    }
    let known =
      place.isRemembered
      ? "and the other time (\(place.ends[0].link.shortHex)) counts here, as it came first"
      : "and nothing seen here before says which time counts, this one or the other (\(place.ends[0].link.shortHex))"
    return Problem(
      .untrusted, .warning, path: path,
      reason:
        "it gives a place up that its holder gave up twice, \(known). One of the two may be signed by whoever has the "
        + "holder's keys. To see both, and to say which is true: kinvault member settle")
  }

  /// What is said of a link that does not count, and what makes it, or what it was for, count; nil for one that does.
  static func problem(_ verdict: LinkVerdict, path: String) -> Problem? {
    switch verdict {
    case .counts: nil
    case .waits(let id):
      Problem(
        .waiting, .note, path: path,
        reason:
          "what it builds on (\(id.shortHex)) has not come yet, so it does not count yet. It does once "
          + "that has come, from whoever has it: kinvault sync")
    case .departed:
      Problem(
        .removedDevice, .note, path: path,
        reason:
          "its device has been removed, and its person has not listed it: it does not count. What it gave, an "
          + "owner can give again: kinvault share")
    case .noPlace:
      Problem(
        .untrusted, .warning, path: path, reason: Self.byNoOwner)
    case .taken(let id):
      Problem(
        .untrusted, .warning, path: path,
        reason:
          "a more senior owner took its writer's place (\(id.shortHex)), and did not know of it; it is ignored. What "
          + "it gave, an owner can give again: kinvault share")
    case .givenUp(let id):
      Problem(
        .untrusted, .warning, path: path,
        reason:
          "its writer had given their place up (\(id.shortHex)); it is ignored. What it gave, an owner can give "
          + "again: kinvault share")
    case .contested(let id):
      Problem(
        .untrusted, .warning, path: path,
        reason:
          "its writer's place was given up twice, and what was taken to count here is the other time (\(id.shortHex)); it "
          + "does not count here. What it gave, an owner can give again: kinvault share")
    case .someoneStays:
      Problem(
        .untrusted, .note, path: path,
        reason:
          "its writer stays an owner, as nobody else would have been one who can share. They can leave once there is another: "
          + "kinvault share, or kinvault hand-over")
    }
  }
}

/// Reads the root and the links of one member: those of a folder, and those that this machine remembers.
package struct LinkReading {
  let member: MemberID
  let store: any BlobStore
  let files: SignedFiles
  let people: People
  let memory: LinkMemory

  package init(
    member: MemberID, store: any BlobStore, files: SignedFiles, people: People, memory: LinkMemory
  ) {
    (self.member, self.store, self.files) = (member, store, files)
    (self.people, self.memory) = (people, memory)
  }

  /// - Throws: `missing`, `damaged` of the member's root; `io` and the like.
  package func run() throws(VaultError) -> MemberLinks {
    let rootPath = VaultPath.memberRoot(member)
    let rootFile = try readRoot(rootPath)
    let root = try MemberRoot.load(member, from: rootFile, people: people, memory: memory)
    let entries = try Self.entries(of: member, in: store)
    let (news, found, unread, foreign) = try readFolder(entries)
    var (known, problems) = (news, foreign)
    for (path, bytes) in memory.files {
      if case .link = path { known[path] = bytes }
    }
    let paths = Dictionary(
      known.map { (StatementFile(.link, $0.value), $0.key) },
      uniquingKeysWith: { first, _ in first })
    let trust = people.trust.judging(
      member, root: root, links: Array(paths.keys), verified: memory.verified,
      memory: TrustMemory(ends: memory.ends, refusedEnds: memory.refusedEnds))
    for (file, error) in trust.broken {
      guard let path = paths[file] else { continue }
      known[path] = nil
      problems.append(Problem(.damaged, .damage, path: path.string, reason: "\(error)"))
    }
    problems += self.problems(of: known.keys, trust)
    known[rootPath] = rootFile
    let over = Set(
      trust.history.wrapFiles(of: trust.epochs.over).map { VaultPath.epochWrap(member, $0) })
    let lasting = trust.history.lasting
    return MemberLinks(
      member: member, trust: trust, files: known,
      marks: Self.marks(entries), unread: unread,
      lost: try lost(found, without: over),
      problems: problems.sorted { $0.path < $1.path }, wrapsThatAreOver: over,
      lasting: lasting,
      fallen: memory.verified.filter {
        trust.history.verdict(on: $0) == .noPlace && !lasting.contains($0)
      })
  }

  /// - Returns: The files that this machine does not remember; everything that lies there; what could not be read just now; and
  ///   what is wrong.
  private func readFolder(_ entries: [(path: BlobPath, entry: BlobEntry)]) throws(VaultError) -> (
    news: [VaultPath: [UInt8]], found: Set<VaultPath>, unread: [BlobPath: VaultError],
    problems: [Problem]
  ) {
    var unread: [BlobPath: VaultError] = [:]
    var news: [VaultPath: [UInt8]] = [:]
    var problems: [Problem] = []
    var found: Set<VaultPath> = []
    for (place, _) in entries {
      let text = place.string
      guard let path = VaultPath(parsing: text) else {
        problems.append(.foreign(text))
        continue
      }
      found.insert(path)
      if memory.files[path] != nil { continue }
      do { news[path] = try read(path) } catch {
        if error.isOfTheMachine { unread[place] = error }
        problems.append(Problem(error, path: text))
      }
    }
    return (news, found, unread, problems)
  }

  /// What lies in the folder of a member's links.
  package static func entries(
    of member: MemberID, in store: any BlobStore
  ) throws(VaultError) -> [(path: BlobPath, entry: BlobEntry)] {
    let folder = BlobPath("members/\(member.hex)/links")
    return try storing(store.list(folder))
      .map { (folder.appending($0.name), $0) }
  }

  /// What it looked like: a file that is still being copied looks otherwise once it is whole.
  package static func marks(_ entries: [(path: BlobPath, entry: BlobEntry)]) -> StatementMarks {
    var marks: StatementMarks = [:]
    for (path, entry) in entries { marks[path] = entry.fingerprint }
    return marks
  }

  private func readRoot(_ path: VaultPath) throws(VaultError) -> [UInt8] {
    if let known = memory.files[path] { return known }
    return try storing(store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
  }

  private func read(_ path: VaultPath) throws(VaultError) -> [UInt8] {
    let bytes = try storing(store.read(BlobPath(path.string), limit: Limits.signedFileBytes))
    do throws(TrustError) {
      guard try StatementFile(.link, bytes).place(in: files.binding.vault) == path.statementPlace
      else {
        throw .contradiction("its name is not that of what it says")
      }
    } catch {
      throw .damaged(path: path.string, reason: "\(error)")
    }
    return bytes
  }

  private func problems(
    of paths: some Sequence<VaultPath>, _ trust: MemberTrust
  ) -> [Problem] {
    var problems: [Problem] = []
    for path in paths {
      guard case .link(_, let id) = path else { continue }
      let verdict = trust.history.verdict(on: id) ?? trust.waiting[id].map { .waits(for: $0) }
      guard var problem = verdict.flatMap({ MemberLinks.problem($0, path: path.string) }) else {
        continue
      }
      if verdict != .noPlace, let link = trust.history.link(id) {
        problem.reason += Self.inAgain(by: link, trust.history.access)
      }
      problems.append(problem)
    }
    let places = trust.history.placesGivenUpTwice
    let others = Set(
      places.flatMap(\.ends).filter { !$0.counts }.map { VaultPath.link(member, $0.link).string })
    problems.removeAll { others.contains($0.path) }
    for place in places {
      problems += place.ends.filter { !$0.counts }.map { end in
        MemberLinks.problem(
          of: end, besides: place, path: VaultPath.link(member, end.link).string)
      }
    }
    // What hangs on an end that a person has refused is no news to them.
    let settled = Set(
      trust.history.leadingToRefusedEnds.map { VaultPath.link(member, $0).string })
    for number in problems.indices where settled.contains(problems[number].path) {
      problems[number].severity = .note
    }
    return problems
  }

  /// What is said besides of an owner's link that does not count: whose access it took away, who have it since it does not.
  private static func inAgain(by link: Link, _ access: Access) -> String {
    guard link.place != nil else { return "" }
    var people: [String] = []
    for case .limit(let person, nil, until: 0) in link.changes where access.includes(person) {
      people.append(person.shortHex)
    }
    if people.isEmpty { return "" }
    return
      ". It took away the access of \(people.joined(separator: ", ")), who can read this member "
      + "as it does not count. An owner can take them out again: kinvault unshare"
  }

  private func lost(
    _ found: Set<VaultPath>, without over: Set<VaultPath>
  ) throws(VaultError) -> [VaultPath: [UInt8]] {
    var lost: [VaultPath: [UInt8]] = [:]
    for (path, bytes) in memory.files where !over.contains(path) {
      if case .link = path {
        if !found.contains(path) { lost[path] = bytes }
      } else {
        let size = try storing(store.size(of: BlobPath(path.string)))
        if size == nil { lost[path] = bytes }
      }
    }
    return lost
  }
}
