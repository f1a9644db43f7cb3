import BlobStore
import Dispatch
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What a check went through and found.
package struct CheckReport: Sendable {
  package var problems: [Problem] = []
  package var memberCount = 0
  package var recordCount = 0
  package var objectCount = 0
  /// Chunks of what is current that a lazy vault keeps elsewhere, and the bytes they take there.
  package var awayCount = 0
  package var awayByteCount: UInt64 = 0
  /// Those that only older versions need: they are elsewhere, or another machine has collected them.
  package var awayOlderCount = 0
  /// Ciphertext bytes of the objects that records need.
  package var objectByteCount: UInt64 = 0
  /// Objects that nothing names; `collect` removes them. None while it is not known what a member needs.
  package var unusedCount = 0
  package var unusedByteCount: UInt64 = 0
  /// Bytes that were read and authenticated.
  package var readByteCount: UInt64 = 0

  /// True if something of what is current cannot be read.
  package var hasDamage: Bool { problems.contains { $0.severity == .damage } }
}

/// How far a long piece of work has come.
package struct WorkProgress: Sendable {
  package var label: String
  package var done: UInt64
  /// 0 while it is not known.
  package var total: UInt64

  package init(label: String, done: UInt64, total: UInt64) {
    self.label = label
    self.done = done
    self.total = total
  }
}

extension Vault {
  /// Goes through everything that the vault is made of.
  ///
  /// Verifies all signatures, opens every head, segment, record and list of files, and sees that every
  /// chunk is there with the right size. With `readsData` every byte of every object is read,
  /// authenticated and compared with its name, in parallel.
  ///
  /// - Parameter progress: Called now and then, from several threads.
  package func check(
    readsData: Bool, progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> CheckReport {
    var report = CheckReport()
    report.problems = problems
    for member in members {
      report.memberCount += 1
      var check = MemberCheck(member: member, readsData: readsData, progress: progress)
      try check.run(into: &report)
    }
    // What was said of heads that are gone when the vault was opened may be of before.
    let ids = Set(members.map(\.id))
    report.problems.removeAll { problem in
      guard problem.kind == .missing, case .head(let member, _)? = VaultPath(parsing: problem.path)
      else { return false }
      return ids.contains(member)
    }
    for member in members { report.problems += try member.lostHeads() }
    let folder = try lookThroughFolder()
    report.problems += folder.problems
    report.problems += try damagedStatements()
    report.problems += try audit.read().problems
    report.problems += try journalProblems(of: members)
    let told = Set(report.problems.map(\.path))
    report.problems += try damagedFiles(among: folder.unread).filter { !told.contains($0.path) }
    var seen: Set<Problem> = []
    report.problems = report.problems.filter { seen.insert($0).inserted }
      .sorted { ($0.severity, $1.path) > ($1.severity, $0.path) }
    return report
  }

  /// Closings, certificates and links whose files in the folder do not hold, though this machine remembers what they say;
  /// and wraps that are not what it has opened, or has seen for other devices.
  private func damagedStatements() throws(VaultError) -> [Problem] {
    let shown = try People.load(
      store: context.store, files: context.signedFiles, memory: PeopleMemory())
    return try shown.problems + self.problems(of: shown) + damagedWraps()
      + changedFilesOfMembers()
  }

  /// Wraps of people's keys that are not what this device has opened, or has seen for other devices.
  private func damagedWraps() throws(VaultError) -> [Problem] {
    var problems: [Problem] = []
    for (path, bytes) in try context.state.loadPeopleMemory().files {
      guard case .wrap = path else { continue }
      do {
        if try context.signedFiles.loadWrap(path, PeopleMemory()) == bytes { continue }
        problems.append(
          Problem(
            .damaged, .damage, path: path.string, reason: "it is not what this device has opened"))
      } catch {
        problems.append(Problem(error, path: path.string))
      }
    }
    for (path, hash) in try context.state.loadSeenWraps().hashes {
      do {
        let file = try context.store.read(
          BlobPath(path.string), limit: DeviceWrapContext.fileLimit)
        if Digest.sha256(file) == hash { continue }
        problems.append(Problem(.changedWrap(path), path: path.string))
      } catch {
        problems.append(Problem(VaultError(error), path: path.string))
      }
    }
    return problems
  }

  /// Links and wraps of members that are not what this machine has seen.
  private func changedFilesOfMembers() throws(VaultError) -> [Problem] {
    var problems: [Problem] = []
    for member in openedMembers {
      let over = member.register.links.wrapsThatAreOver
      for (path, bytes) in try context.state.loadLinkMemory(of: member.id).files {
        do {
          let limit = Limits.signedFileBytes
          if try context.store.read(BlobPath(path.string), limit: limit) == bytes { continue }
          problems.append(
            Problem(
              .damaged, .damage, path: path.string,
              reason: "it is not what this machine has seen and goes by"))
        } catch {
          // What nobody needs may be gone.
          if case .notFound = error, over.contains(path) { continue }
          problems.append(Problem(VaultError(error), path: path.string))
        }
      }
    }
    return problems
  }

  /// Those of these files that do not hold.
  private func damagedFiles(among paths: [VaultPath]) throws(VaultError) -> [Problem] {
    let tree = try SignedTree.load(
      vault: context.binding.vault, store: context.store, state: context.state, opener: wrapOpener)
    var problems: [Problem] = []
    for path in paths where !tree.isWrapOfUnknownKeys(path) {
      do {
        guard case .broken(let error)? = try tree.verdictOnStored(path),
          !error.isOfUnlistedMember
        else { continue }
        problems.append(Problem(error, path: path.string))
      } catch {
        problems.append(Problem(error, path: path.string))
      }
    }
    return problems
  }

  /// Files in the vault folder that are no part of a vault, and what crashes left; and the signed files and wraps that
  /// nothing which is open was made of: others need them, or nobody does now.
  private func lookThroughFolder() throws(VaultError) -> (problems: [Problem], unread: [VaultPath])
  {
    var problems: [Problem] = []
    var unread: [VaultPath] = []
    let store = context.store
    let own = context.staging?.path.string
    let opened = Set(openedMembers.map(\.id))
    try storing { () throws(BlobStoreError) in
      try store.walk(under: .root) { path, entry in
        let text = path?.string ?? entry.name
        if let known = VaultPath(parsing: text) {
          if known.isForOthers(besides: opened) { unread.append(known) }
          return .goOn
        }
        if text.hasPrefix("staging/") {
          if let own, text.hasPrefix(own) { return .goOn }
          if text.hasSuffix("/lock") { return .goOn }
          problems.append(
            Problem(
              .leftover, .note, path: text,
              reason: "it belongs to a running program or was left by an interrupted one"))
          return .goOn
        }
        problems.append(.foreign(text))
        return .goOn
      }
    }
    return (problems, unread)
  }
}

extension VaultPath {
  /// Whether it is of a kind that whoever opens these members reads nothing of.
  fileprivate func isForOthers(besides opened: Set<MemberID>) -> Bool {
    switch self {
    case .introduction, .wrap, .epochWrap: true
    case .head(let member, _): !opened.contains(member)
    // Logs, roots, links and what makes devices are read in any case. A request is nobody's once it is answered.
    case .vault, .closing, .certificate, .device, .deviceRequest, .memberRoot, .link, .object,
      .auditSegment:
      false
    }
  }
}

/// Checks one member.
private struct MemberCheck {
  let member: Member
  let readsData: Bool
  let progress: @Sendable (WorkProgress) -> Void
  private var context: VaultContext { member.context }

  mutating func run(into report: inout CheckReport) throws(VaultError) {
    let name = member.name.string
    var references: [ContentDigest: VisitedObject] = [:]
    var problems: [Problem] = []
    let total = UInt64(member.allEntries().count)
    MemberWalk(member: member).walkAll(
      keeps: { _, _ in true },
      visit: { reference in
        if let known = references[reference.digest], !known.isOnlyInHistory { return }
        references[reference.digest] = reference
      },
      fail: { reference, error in problems.append(problem(error, reference)) },
      progress: { [progress] done in
        if done % 256 == 0 || UInt64(done) == total {
          progress(WorkProgress(label: name, done: UInt64(done), total: total))
        }
      })
    for segment in segments() {
      references[segment] = VisitedObject(
        reference: ObjectReference(segment, .segment), record: .root, isOnlyInHistory: false)
    }
    for list in member.heads.withLock({ $0.loaded.values.flatMap(\.head.authored) }) {
      references[list] = VisitedObject(
        reference: ObjectReference(list, .authored), record: .root, isOnlyInHistory: true)
    }
    problems += member.heads.withLock { member.problems(of: $0) }
    problems += unreadableNotes()
    let sizes = try objectSizes()
    let places = member.objects.places(of: references.keys, among: sizes)
    // What a device that is away may name again is no garbage; that it is there nobody relies on.
    let ofTakenOver = member.heads.withLock { member.objectsOfTakenOver($0) }
    let stays = Set(ofTakenOver.flatMap(member.objects.names))
    try count(sizes, named: stays.union(places.values), &report)
    problems += present(references, places.mapValues { sizes[$0] ?? 0 }, &report)
    if readsData { problems += read(references, places, sizes, &report) }
    report.recordCount += member.recordCount
    report.objectCount += references.count
    report.problems += problems
  }

  private func unreadableNotes() -> [Problem] {
    let entries = member.allEntries().filter { !$0.isDeleted }
    let unparsed = entries.filter(\.hasUnreadableFrontMatter).map { entry in
      note(
        .unreadableFrontMatter, entry,
        "the front matter of its note does not parse; the text is kept as it is")
    }
    let undated = entries.filter(\.hasUnreadableDate).map { entry in
      note(
        .unreadableDate, entry,
        "its date cannot be read, so it counts as a record without one; a date is written 2025-01-20, 2025-01 or 2025, and "
          + "20.1.2025 will do as well")
    }
    return unparsed + undated
  }

  private func note(_ kind: Problem.Kind, _ entry: RecordEntry, _ reason: String) -> Problem {
    Problem(
      kind, .note, path: member.objects.path(of: entry.revision).string, reason: reason,
      member: member.name.string, record: member.displayPath(of: entry.record), item: "record.md")
  }

  private func segments() -> [ContentDigest] {
    member.heads.withLock { heads in
      heads.loaded.values.flatMap(\.head.segments)
    }
  }

  private func problem(_ error: VaultError, _ reference: VisitedObject) -> Problem {
    var problem = Problem(error, path: member.objects.path(of: reference.digest).string)
    problem.member = member.name.string
    if reference.kind != .segment { problem.record = member.displayPath(of: reference.record) }
    problem.item = reference.item?.string
    problem.isOnlyInHistory = reference.isOnlyInHistory
    if reference.isOnlyInHistory, problem.severity == .damage { problem.severity = .warning }
    return problem
  }

  /// The sizes of all object files of the member.
  private func objectSizes() throws(VaultError) -> [ObjectName: UInt64] {
    Dictionary(try member.objects.listed().map { ($0.name, $0.byteCount) }) { first, _ in first }
  }

  private func count(
    _ sizes: [ObjectName: UInt64], named: Set<ObjectName>, _ report: inout CheckReport
  ) throws(VaultError) {
    let knowsWhatIsNeeded = try member.knowsWhatIsNeeded
    for (name, size) in sizes {
      if named.contains(name) {
        report.objectByteCount += size
      } else if knowsWhatIsNeeded {
        report.unusedCount += 1
        report.unusedByteCount += size
      }
    }
  }

  private func present(
    _ references: [ContentDigest: VisitedObject], _ sizes: [ContentDigest: UInt64],
    _ report: inout CheckReport
  ) -> [Problem] {
    references.values.compactMap { reference in
      let path = member.objects.path(of: reference.digest).string
      guard let size = sizes[reference.digest] else {
        guard context.lazy != nil, reference.kind == .chunk else {
          return problem(.missing(path: path), reference)
        }
        if reference.isOnlyInHistory {
          report.awayOlderCount += 1
          return nil
        }
        report.awayCount += 1
        report.awayByteCount += UInt64(
          ObjectLayout(of: .chunk).fileSize(
            contentSize: reference.contentByteCount ?? 0))
        return nil
      }
      let contentSize = reference.contentByteCount ?? 0
      guard
        ObjectLayout(of: reference.kind).mayHold(
          contentSize: contentSize, fileSize: Int(clamping: size))
      else {
        let needed = ObjectLayout(of: reference.kind).fileSize(contentSize: contentSize)
        return problem(
          .damaged(path: path, reason: "it has \(size) bytes, at least \(needed) are needed"),
          reference)
      }
      return nil
    }
  }

  /// Opens every object and computes its name again.
  private func read(
    _ references: [ContentDigest: VisitedObject], _ places: [ContentDigest: ObjectName],
    _ sizes: [ObjectName: UInt64], _ report: inout CheckReport
  ) -> [Problem] {
    // In the order of the files.
    let work = places.sorted { $0.value < $1.value }.compactMap { digest, name in
      references[digest].map { (reference: $0, byteCount: sizes[name] ?? 0) }
    }
    let total = work.reduce(0) { $0 + $1.byteCount }
    let state = Guarded((problems: [Problem](), done: UInt64(0), shown: UInt64(0)))
    let member = self.member
    let label = member.name.string
    let progress = self.progress
    DispatchQueue.concurrentPerform(iterations: work.count) { position in
      let (reference, byteCount) = work[position]
      var found: Problem?
      do throws(VaultError) {
        try member.objects.verify(reference.digest, kind: reference.kind)
      } catch {
        found = problem(error, reference)
      }
      let shown = state.withLock { state -> UInt64? in
        if let found { state.problems.append(found) }
        state.done += byteCount
        guard state.done - state.shown > 8 << 20 || state.done == total else { return nil }
        state.shown = state.done
        return state.done
      }
      if let shown { progress(WorkProgress(label: label, done: shown, total: total)) }
    }
    report.readByteCount += total
    return state.withLock { $0.problems }
  }
}

extension ObjectStore {
  /// Opens the whole object and computes its name again.
  ///
  /// - Throws: `missing`, `damaged`.
  func verify(_ digest: ContentDigest, kind: ObjectKind) throws(VaultError) {
    _ = try content(digest, kind: kind)
  }
}
