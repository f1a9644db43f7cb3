import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// Since when the openings of files are noted in the journals of which members: since this machine's person was told so.
/// Docs/Format.md, sections 13 and 14.
extension StateFolder {
  private static let journalsPath: BlobPath = "journals"
  private static let journalsTitle = "kinvault journals 1"

  /// In milliseconds since 1970. What is torn or gone is told again.
  func toldReads() throws(VaultError) -> [MemberID: UInt64] {
    guard let bytes = try readIfThere(Self.journalsPath, limit: 16 << 20),
      let lines = ChecksummedLines(decoding: bytes, title: Self.journalsTitle)
    else { return [:] }
    var told: [MemberID: UInt64] = [:]
    for words in lines.words(upTo: 3) where words.count == 3 && words[0] == "reads" {
      if let member = MemberID(hex: words[1]), let time = UInt64(words[2]) { told[member] = time }
    }
    return told
  }

  /// On disk when it returns. The caller holds `audit-lock`.
  func store(toldReads told: [MemberID: UInt64]) throws(VaultError) {
    let lines = told.sorted { $0.key < $1.key }.map { "reads \($0.key.hex) \($0.value)" }
    let bytes = ChecksummedLines.encode(title: Self.journalsTitle, lines)
    try storing(store.replace(Self.journalsPath, bytes, durably: true))
  }
}

extension AuditLog {
  /// Into which journals events go now.
  ///
  /// - Parameter checksHeads: Whether heads are asked if owners still have readings noted; not by whoever holds one of
  ///   their locks.
  func journals(checkingHeads checksHeads: Bool) throws(VaultError) -> Journals {
    var journals = context.openJournals.withLock { $0 }?() ?? Journals()
    var told = try context.state.toldReads()
    if told.isEmpty { return journals }
    if checksHeads, let noted = context.notedReads.withLock({ $0 })?() {
      told = told.filter { noted[$0.key]?.areNoted ?? false }
    }
    for (member, since) in told { journals.members[member]?.readsSince = since }
    return journals
  }
}

/// What is new about whether openings of files are noted in the journal of a member.
package struct ReadsNews: Sendable, Equatable {
  package let member: MemberID
  package let areNoted: Bool
  /// Who said so last; nil where no owner says anything any more.
  package let person: PersonID?
  /// When, in milliseconds since 1970.
  package let time: UInt64?
}

extension Vault {
  /// Has openings of files noted in the journal of a member from now on, or no more: everyone who has access to it reads
  /// there who opened what. Everyone's machine tells its person so first. Durable when it returns.
  ///
  /// - Throws: `ownersOnly` for who is no owner; what `Member.commit` throws.
  package func noteReads(_ areNoted: Bool, of member: Member) throws(VaultError) {
    guard member.role == .owner else { throw .ownersOnly(member: member.id) }
    let last = member.notedReads?.time ?? 0
    let reads = Head.Reads(
      areNoted: areNoted, time: max(context.clock.milliseconds(), Limits.time(after: last)),
      person: person)
    try member.withWriter { (writer, _) throws(VaultError) in
      try writer.writeLearned { $0.reads = reads }
    }
    audit.note(.share, member: member.id, detail: areNoted ? "reads on" : "reads off")
    _ = try takeReadsNews()
  }

  /// Whose openings of files are noted for everyone with access, as owners say.
  package var readsAreNoted: [ReadsNews] {
    notedReads.filter(\.value.areNoted).map { member, reads in
      ReadsNews(member: member, areNoted: true, person: reads.person, time: reads.time)
    }.sorted { $0.member < $1.member }
  }

  /// What this machine's person was not told yet.
  package func readsNews() throws(VaultError) -> [ReadsNews] {
    let noted = notedReads
    let told = try context.state.toldReads()
    let ended = told.keys.sorted().filter { member in
      // Of a member that does not open now nothing is known.
      self.member(member) != nil && !(noted[member]?.areNoted ?? false)
    }
    return readsAreNoted.filter { told[$0.member] == nil }
      + ended.map {
        ReadsNews(
          member: $0, areNoted: false, person: noted[$0]?.person, time: noted[$0]?.time)
      }
  }

  /// What this machine's person was not told yet, and is told now: from here on what they open is noted. Where the state cannot be
  /// written it is not, and they are told again.
  package func takeReadsNews() throws(VaultError) -> [ReadsNews] {
    let news = try readsNews()
    if news.isEmpty || isReadOnly { return news }
    do throws(VaultError) { try keepTold(news) } catch {
      switch error {
      case .noSpace, .readOnly, .permission: break
      default: throw error
      }
    }
    return news
  }

  private func keepTold(_ news: [ReadsNews]) throws(VaultError) {
    let now = context.clock.milliseconds()
    try context.state.withLock("audit-lock") { () throws(VaultError) in
      var told = try context.state.toldReads()
      for news in news {
        told[news.member] = news.areNoted ? told[news.member] ?? now : nil
      }
      try context.state.store(toldReads: told)
    }
  }

  /// What owners say of each member that is open.
  var notedReads: [MemberID: Head.Reads] {
    Dictionary(
      openedMembers.compactMap { member in member.notedReads.map { (member.id, $0) } }
    ) { first, _ in first }
  }

  var openJournals: Journals {
    var journals = Journals()
    for member in openedMembers where member.role != nil {
      journals.members[member.id] = Journals.Journal(
        key: member.register.keys.current.journalKey, isSpent: member.isEpochSpent,
        isShared: member.register.links.access.entitlements.keys.contains { $0 != person })
    }
    return journals
  }
}

extension Member {
  /// What owners say of whether openings of files are noted in its journal; nil where none has said anything.
  var notedReads: Head.Reads? {
    heads.withLock { notedReads(in: $0) }
  }

  /// What owners say of whether openings of files are noted in its journal, for a caller who holds the lock of `heads`.
  func notedReads(in heads: HeadsState) -> Head.Reads? {
    let access = register.links.access
    let now = context.clock.milliseconds()
    return Head.Reads.newest(
      of: heads.loaded.values.filter { access.role(of: $0.person, at: now) == .owner }.map(\.head))
  }
}

extension Head.Reads {
  /// The one that counts of what heads of owners say.
  static func newest(of heads: some Sequence<Head>) -> Head.Reads? {
    heads.compactMap(\.reads).max {
      // Of equals the one that notes less.
      ($0.time, $0.areNoted ? 0 : 1, $0.person) < ($1.time, $1.areNoted ? 0 : 1, $1.person)
    }
  }
}
