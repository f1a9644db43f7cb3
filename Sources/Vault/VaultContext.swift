import BlobStore
import Log
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

import struct SystemPackage.FilePath

/// What every part of an open vault shares.
final class VaultContext: Sendable {
  let copy: VaultCopy
  // Read again when a device appears that it does not know.
  private let knownPeople: Guarded<People>
  /// The files of people as they were read last; nil before they were read again.
  private let readFiles = Guarded<ReadFiles?>(nil)
  // Renewed with them, when another device of the person has begun a generation.
  private let knownKeys: Guarded<PersonKeys>
  private let ownRemoval = Guarded<VaultError?>(nil)
  let person: PersonID
  // Another one when this machine has become a device of its own.
  private let knownDevice: Guarded<ThisDevice>
  /// The certificate that this process has signed with.
  private let usedCertificate = Guarded<StatementID?>(nil)
  /// What the device is called that this machine became in this process; nil if it did not.
  private let newName = Guarded<String?>(nil)
  private let knownNames = Guarded<[PersonID: String]>([:])
  private let accessChangeCount = Guarded<UInt64>(0)
  private let firstWrite = Guarded<UInt64?>(nil)
  private let leftBehind = Guarded<[Problem]>([])
  /// How many bytes this process has derived since it looked how many there are; nil before it has.
  let derivedSinceTrim = Guarded<UInt64?>(nil)
  /// Is called when a commit has begun an epoch of this member, and notes that in the audit log.
  let noteEpoch = Guarded<(@Sendable (MemberID) -> Void)?>(nil)
  /// Is called when the person's profile is written anew, and says in it under which names members show here.
  let tellNames = Guarded<
    (@Sendable (inout PersonalProfile) throws(VaultError) -> Void)?
  >(nil)
  /// The members whose journals this person can write now; of which of them owners have readings noted.
  let openJournals = Guarded<(@Sendable () -> Journals)?>(nil)
  let notedReads = Guarded<(@Sendable () -> [MemberID: Head.Reads])?>(nil)
  /// Opens the requests of machines that know the words which this process has shown last; nil before it has shown any.
  let awaitedRequests = Guarded<SealingKey?>(nil)
  /// The device unlock key, as it seals what this machine's state keeps to itself: the private keys of its device, the logins of
  /// remotes, under which names members show.
  let slotKey: SealingKey
  let isReadOnly: Bool
  let staging: Staging?
  /// Brings chunks here that are elsewhere; nil for a vault that is wholly here.
  let lazy: LazyChunks?
  /// Which may be elsewhere, as this process knows it; nil for a vault that was wholly here when it was opened.
  let lazySettings: Guarded<LazySettings?>
  /// The last trimming of the cache by this process after which nothing was left that should have gone.
  let lastTrim = Guarded<CacheTrim?>(nil)
  let buffers: BufferPool
  /// The objects of all members that are open for reading.
  let readers = ReaderCache()
  /// Where this process keeps its redo files.
  let redoFolder: RedoFolder
  private let redoFiles = Guarded<[MemberID: Guarded<RedoLog.File>]>([:])
  /// Held as long as the vault is open.
  let reading: ReadingMark
  /// Where it is said what fails while nobody looks.
  let log: BackgroundLog
  /// The inode number of the vault's folder; 0 for a vault that lies in none.
  let folderNumber: UInt64

  init(
    _ copy: VaultCopy, people: People, person: PersonID, keys: PersonKeys, device: ThisDevice,
    slotKey: SealingKey,
    isReadOnly: Bool,
    staging: Staging?,
    lazySettings: LazySettings?, reading: ReadingMark, log: BackgroundLog, folderNumber: UInt64
  ) {
    self.copy = copy
    knownPeople = Guarded(people)
    knownKeys = Guarded(keys)
    self.person = person
    knownDevice = Guarded(device)
    self.slotKey = slotKey
    self.isReadOnly = isReadOnly
    self.staging = staging
    lazy = lazySettings.map { _ in LazyChunks() }
    self.lazySettings = Guarded(lazySettings)
    self.reading = reading
    self.log = log
    redoFolder = RedoFolder(state: copy.state)
    self.folderNumber = folderNumber
    // Six buffers a core are in use at most when many reads and seals run at once.
    buffers = BufferPool(keptCount: 12)
  }

  /// The one redo file of a member, however often that is closed and opened again.
  func redoFile(of member: MemberID) -> Guarded<RedoLog.File> {
    redoFiles.withLock { files in
      if let known = files[member] { return known }
      let new = Guarded(RedoLog.File())
      files[member] = new
      return new
    }
  }

  /// How many barriers have failed so far, for `barrier(since:)`.
  var failedBarriers: UInt64 { staging?.failedBarriers ?? 0 }

  /// `Staging.barrier`. Where the vault is only read nothing is staged; things are removed there all the same, to make room.
  func barrier(since failures: UInt64) throws(VaultError) {
    guard let staging else { return try storing(store.barrier()) }
    try staging.barrier(since: failures)
  }

  var store: any LocalStore { copy.store }
  var folder: FilePath? { copy.folder }
  /// Where the vault's folder stands, for redo files; empty for a vault that lies in none.
  var folderPath: [UInt8] { Array((folder?.string ?? "").utf8) }
  var state: StateFolder { copy.state }
  var clock: WallClock { copy.clock }
  var binding: Binding { copy.binding }
  var signedFiles: SignedFiles { copy.files }

  /// Everyone in the vault, as they were last read.
  var people: People { knownPeople.withLock { $0 } }

  /// This person's keys, as of the newest generation that was seen.
  var keys: PersonKeys { knownKeys.withLock { $0 } }

  /// This machine's device.
  var device: ThisDevice { knownDevice.withLock { $0 } }

  func change(device: ThisDevice) { knownDevice.withLock { $0 = device } }

  /// What this machine's device is called since this process made it one of its own; nil if it did not.
  var parted: String? { newName.withLock { $0 } }

  func noteParting(_ name: String) { newName.withLock { $0 = name } }

  /// What this person calls those whom they know, as far as this process has looked.
  var names: [PersonID: String] { knownNames.withLock { $0 } }

  func noteNames(in profile: PersonalProfile) {
    let known = profile.people.filter { $0.verification != .trustedOnFirstUse && !$0.name.isEmpty }
    let new = Dictionary(known.map { ($0.person, $0.name) }) { first, _ in first }
    let isNews = knownNames.withLock { names in
      defer { names = new }
      return names != new
    }
    if isNews { noteAccessChange() }
  }

  /// How often people, what they may do, or what they are called here were found to be others.
  var accessChanges: UInt64 { accessChangeCount.withLock { $0 } }

  func noteAccessChange() { accessChangeCount.withLock { $0 += 1 } }

  /// When this process wrote the first head that no segment of the log has followed yet, in milliseconds since 1970; nil
  /// if there is none.
  var writtenSince: UInt64? { firstWrite.withLock { $0 } }

  func noteWrite() {
    let now = clock.milliseconds()
    firstWrite.withLock { $0 = $0 ?? now }
  }

  func forgetWrite() { firstWrite.withLock { $0 = nil } }

  /// `thisDeviceRemoved` once that was seen; nil while the device may go on.
  var removal: VaultError? { ownRemoval.withLock { $0 } }

  /// This person as they were last read.
  ///
  /// - Throws: `missing` when nothing of them holds.
  func ownPerson() throws(VaultError) -> Person {
    guard let own = people[person] else {
      throw .missing(path: BlobPath("people/\(person.hex)/closings").string)
    }
    return own
  }

  /// The certificate that this device goes by. It may be given more of them, by the key of a stolen machine too, which others have
  /// not seen and let fall when they remove that one: so it goes on with the one that it has used.
  ///
  /// - Throws: `removal`; `keysDivided` while it waits for the words to join two generations.
  func ownCertificate() throws(VaultError) -> CertifiedDevice {
    if let removal { throw removal }
    let own = try ownPerson()
    let counting = own.countingCertificates(of: device.id)
    guard let least = counting.first else {
      throw own.generation == nil
        ? .keysDivided(person: person) : .noDeviceHere(vault: binding.vault)
    }
    let known = usedCertificate.withLock { $0 }
    if let used = counting.first(where: { $0.id == known }) { return used }
    var certificate = least
    if counting.count > 1 {
      let named = try certificatesInKeptHeads()
      certificate = counting.first { named.contains($0.id) } ?? least
    }
    let id = certificate.id
    usedCertificate.withLock { $0 = id }
    return certificate
  }

  /// Which certificates the newest heads name that this machine has written.
  private func certificatesInKeptHeads() throws(VaultError) -> Set<StatementID> {
    var named: Set<StatementID> = []
    for member in try state.membersOfKeptHeads() {
      guard let bytes = try state.keptHead(of: member) else { continue }
      if let body = KeptHead(bytes).body { named.insert(body.certificate) }
    }
    return named
  }

  /// - Throws: `keysDivided` while this device waits for the words: it was certified in one of two generations of its
  ///   person's keys, and nothing that it signs counts before these are joined.
  func requireJoinedKeys() throws(VaultError) {
    do { _ = try ownCertificate() } catch {
      if case .keysDivided = error { throw error }
    }
  }

  /// Reads everyone again: a new device or person may have come, or a generation of keys. What counts is remembered, and
  /// what the folder lacks of it put back.
  func reloadPeople() throws(VaultError) {
    let marks = try peopleMarks()
    let memory = try state.loadPeopleMemory()
    let read = try People.load(store: store, files: signedFiles, memory: memory)
    knownPeople.withLock { $0 = read }
    let before = readFiles.withLock { $0 }
    let files = ReadFiles(
      marks, without: read.unread.keys, after: before, at: clock.milliseconds())
    // What a register says of names is noted where it is read; each published segment of a log writes one.
    if let before, Self.statements(before.read) != Self.statements(files.read) {
      noteAccessChange()
    }
    if let own = read[person], !keys.isCurrent(for: own) || own.former[device.id] != nil {
      try renewKeys(of: own, memory)
    }
    if !isReadOnly {
      try read.putBack(into: store)
      try state.remember(read, own: person, wraps: keys.wraps)
    }
    // Not before: what was not kept is looked at again.
    readFiles.withLock { $0 = files }
  }

  /// Reads everyone again if their files are not those that were read: a closing that has come lets devices out, and no other
  /// file tells of it.
  func reloadPeopleIfChanged() throws(VaultError) {
    let marks = try peopleMarks()
    let known = readFiles.withLock { $0 }
    if known?.isOutdated(by: marks, at: clock.milliseconds()) ?? true { try reloadPeople() }
  }

  private func peopleMarks() throws(VaultError) -> StatementMarks {
    var marks: StatementMarks = [:]
    try storing { () throws(BlobStoreError) in
      try store.walk(under: "people", depth: 6) { path, entry in
        if let path, entry.kind == .blob { marks[path] = entry.fingerprint }
        return .goOn
      }
    }
    return marks
  }

  private static func statements(_ marks: StatementMarks) -> StatementMarks {
    marks.filter { $0.key.parent?.name != "devices" }
  }

  private func renewKeys(of own: Person, _ memory: PeopleMemory) throws(VaultError) {
    do {
      let keys = try PersonKeys.open(own, device: device, files: signedFiles, memory: memory)
      knownKeys.withLock { $0 = keys }
    } catch {
      guard case .thisDeviceRemoved = error else { throw error }
      ownRemoval.withLock { $0 = error }
      try state.removeDerived()
    }
  }

  /// Whether removals must be remembered for other devices: only when there are any, whosever they are. To whom access was
  /// given since is not looked up with each commit, and whoever makes people up has no more of it than some longer lists.
  var keepsTombstones: Bool { people.deviceCount > 1 }
}

extension VaultContext {
  /// What new keys since the last call have left to be told.
  func takeLeftBehind() -> [Problem] {
    leftBehind.withLock { problems in
      defer { problems = [] }
      return problems
    }
  }

  func noteLeftBehind(_ contents: Set<ContentDigest>, of member: Member) {
    if contents.isEmpty { return }
    let problem = Problem(
      .damaged, .damage, path: "members/\(member.id.hex)/objects",
      reason:
        "\(contents.count) of its objects could not be encrypted anew, since what stands in the file is not the "
        + "content that belongs there: it is damaged, or somebody with the keys has put it there. Everything else was "
        + "encrypted anew. “kinvault check --read-data” says which records are concerned; what another device or "
        + "remote has whole comes from there with a sync.",
      member: member.name.string)
    leftBehind.withLock { $0.append(problem) }
  }

  /// Tells what no remote of this lazy vault has any more of what was put under new keys.
  func noteGone(_ gone: Translation.Gone, of member: Member) {
    var problems = gone.current.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map {
      digest, record in
      Problem(
        .missing, .damage, path: member.objects.path(of: digest).string,
        reason:
          "It was left on the remotes, and none of them has it any more. The record \(record.shortHex) goes on naming it. A "
          + "machine that still has it puts it there again with \u{201C}kinvault sync --full\u{201D}; if none has, replace or remove the file "
          + "that needs it.",
        member: member.name.string, record: member.displayPath(of: record))
    }
    if !gone.inHistory.isEmpty {
      problems.append(
        Problem(
          .missing, .warning, path: "members/\(member.id.hex)/objects",
          reason:
            "\(gone.inHistory.count) pieces of attached files that only older versions or deleted records had were left on "
            + "the remotes, and none of them has these any more: another machine has collected them, or the remotes have lost "
            + "or hide them. They were not put under the new keys; everything current was. A machine that still has them keeps "
            + "them.",
          member: member.name.string, isOnlyInHistory: true))
    }
    let found = problems
    leftBehind.withLock { told in
      for problem in found where !told.contains(problem) { told.append(problem) }
    }
  }

  /// New keys are there in the place of ones of which this machine could not read any more whose access they were to end.
  func noteForgottenAccess(to member: Member) {
    let problem = Problem(
      .accessForgotten, .warning, path: "members/\(member.id.hex)",
      reason:
        "Its keys were being changed, and what this machine had noted of whose access was to end with that was torn. "
        + "They were changed for everyone who has access. If you had taken somebody\u{2019}s access away, see whether they "
        + "still have it (kinvault access list), and take it away again (kinvault unshare).",
      member: member.name.string)
    leftBehind.withLock { $0.append(problem) }
  }
}
