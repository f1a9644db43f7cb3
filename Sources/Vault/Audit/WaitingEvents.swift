import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

/// Events that stand in this machine's state and in no segment yet: Docs/Format.md, section 13, "Events that wait".
///
/// Whoever calls what writes holds the lock `audit-lock`, where it is not said otherwise.
struct WaitingEvents {
  let state: StateFolder
  let binding: Binding

  /// So many files are made without keys; then the newest one counts how many it stands for.
  static let keylessFileLimit = 256
  /// When there are so many that were made with keys, they become one.
  private static let fileLimit = 64
  /// A file takes about so many bytes of events, and one of half as many is not written anew.
  private static let joinedByteLimit = 512 << 10
  /// What a file may have: until November 2026 all that was noted at once stood in one.
  private static let fileByteLimit = 64 << 20

  /// A file, opened.
  struct Batch {
    let file: WaitingFile
    let events: [AuditEvent]
    let byteCount: Int
  }

  // MARK: Writing

  /// Keeps events, sealed with this person's audit key; on disk when it returns.
  func keep(_ events: [AuditEvent], keys: PersonKeys) throws(VaultError) {
    let files = try files()
    if files.count(where: { $0.count == nil }) >= Self.fileLimit {
      let small = try load(keys: keys).batches.filter {
        $0.byteCount < Self.joinedByteLimit / 2
      }
      if small.count > 1 {
        return try replace(small, by: small.flatMap(\.events) + events, keys: keys)
      }
    }
    try write(events, keys: keys)
  }

  /// Puts these events in the place of files that were opened. A crash leaves both: whoever reads gives each event once.
  func replace(
    _ batches: [Batch], by events: [AuditEvent], keys: PersonKeys
  ) throws(VaultError) {
    try write(events, keys: keys)
    for batch in batches { try remove(batch.file) }
  }

  /// As many files as it takes: one program may have noted tens of thousands of events at once.
  private func write(_ events: [AuditEvent], keys: PersonKeys) throws(VaultError) {
    var rest = events[...]
    while !rest.isEmpty {
      var (count, size) = (0, 0)
      for event in rest {
        size += AuditEvents(events: [event]).encoded().count
        if count > 0, size > Self.joinedByteLimit { break }
        count += 1
      }
      try write(Array(rest.prefix(count)), to: next(try files()), keys: keys)
      rest = rest.dropFirst(count)
    }
  }

  private func write(
    _ events: [AuditEvent], to number: UInt64, keys: PersonKeys
  ) throws(VaultError) {
    let file = WaitingFile(number: number, count: nil)
    let sealed = keys.auditKey.seal(
      AuditEvents(events: events).encoded(), label: .waiting, path: file.path.string, counter: 0)
    try store(keys.generation.bytes + sealed.nonce + sealed.ciphertext, at: file)
  }

  /// Keeps one event while no key is here. Takes the lock itself.
  ///
  /// Where nobody has said yet for whom to seal it (nothing has opened the vault on this machine), nothing is noted.
  static func keepWithoutKeys(
    _ event: AuditEvent, state: StateFolder
  ) throws(VaultError) {
    guard let key = try LogKey.load(state: state) else { return }
    try state.withLock("audit-lock") { () throws(VaultError) in
      let waiting = WaitingEvents(state: state, binding: Binding(vault: key.vault))
      let files = try waiting.files()
      let keyless = files.filter(\.isKeyless)
      let replaced = keyless.count >= keylessFileLimit ? keyless.last : nil
      let count = replaced?.count.map { $0 == .max ? .max : $0 + 1 } ?? 1
      let file = WaitingFile(number: waiting.next(files), count: count)
      var event = event
      event.count = count
      try waiting.store(try sealed(event, for: key, in: file), at: file)
      if let replaced { try waiting.remove(replaced) }
    }
  }

  private static func sealed(
    _ event: AuditEvent, for key: LogKey, in file: WaitingFile
  ) throws(VaultError) -> [UInt8] {
    let seal = KeylessSeal(
      person: key.person, generation: key.generation, binding: Binding(vault: key.vault))
    do {
      let (wrap, sealed) = try seal.seal(
        AuditEvents(events: [event]).encoded(), for: key.agreementPublicKey,
        path: file.path.string, counter: 0)
      return key.generation.bytes + wrap + sealed.nonce + sealed.ciphertext
    } catch {
      throw .crypto(error)
    }
  }

  // MARK: Reading

  /// The files, in order.
  func files() throws(VaultError) -> [WaitingFile] {
    do {
      return try state.store.list(WaitingFile.folder).compactMap { WaitingFile(name: $0.name) }
        .sorted { $0.number < $1.number }
    } catch {
      guard case .notFound = error else { throw VaultError(error) }
      return []
    }
  }

  /// Every file that opens, in order, and what is wrong with the others.
  ///
  /// Whoever only reads need not hold the lock, and reads this before the segments: what is removed meanwhile is in one.
  ///
  /// - Parameter person: Whose keys these are, to open what was kept without keys as well; nil passes over that.
  func load(keys: PersonKeys, person: PersonID? = nil) throws(VaultError) -> (
    batches: [Batch], problems: [Problem]
  ) {
    var batches: [Batch] = []
    var problems: [Problem] = []
    let identities = keys.identities.expanded()
    for file in try files() where person != nil || !file.isKeyless {
      guard let bytes = try state.readIfThere(file.path, limit: Self.fileByteLimit) else {
        continue
      }
      do {
        let events = try open(file, bytes[...], keys, identities, person)
        batches.append(Batch(file: file, events: events, byteCount: bytes.count))
      } catch {
        let path = state.describe(file.path)
        problems.append(Problem(VaultError(error, path: path), path: path))
      }
    }
    return (batches, problems)
  }

  private func open(
    _ file: WaitingFile, _ bytes: ArraySlice<UInt8>, _ keys: PersonKeys,
    _ identities: ExpandedIdentities, _ person: PersonID?
  ) throws(CryptoError) -> [AuditEvent] {
    var rest = bytes
    guard let generation = StatementID(try Self.take(32, of: &rest)) else {
      throw .malformed(reason: "it is no file of events")
    }
    let plaintext: [UInt8]
    if file.isKeyless {
      // The person first: to look a key up expands it.
      guard let person, let key = identities[generation] else {
        throw .malformed(reason: "it is sealed for an unknown key")
      }
      let wrap = try Self.take(KeylessSeal.wrapByteCount, of: &rest)
      let nonce = try Self.take(12, of: &rest)
      plaintext = try KeylessSeal(person: person, generation: generation, binding: binding).open(
        wrap, Sealed(nonce: nonce, ciphertext: Array(rest)), with: key,
        path: file.path.string, counter: 0)
    } else {
      guard let key = keys.auditKey(generation: generation) else {
        throw .malformed(reason: "it is sealed with an unknown key")
      }
      let nonce = try Self.take(12, of: &rest)
      plaintext = try key.open(
        Sealed(nonce: nonce, ciphertext: Array(rest)), label: .waiting,
        path: file.path.string, counter: 0)
    }
    return try Self.events(plaintext, isKeyless: file.isKeyless)
  }

  /// Whoever can write to this machine's state can seal without keys, and says with it nothing that takes keys to do.
  private static func events(
    _ plaintext: [UInt8], isKeyless: Bool
  ) throws(CryptoError) -> [AuditEvent] {
    let events: [AuditEvent]
    do { events = try AuditEvents(decoding: plaintext, limit: fileByteLimit).events } catch {
      throw .malformed(reason: "\(error)")
    }
    guard isKeyless else { return events }
    guard events.count == 1, AuditAction(rawValue: events[0].action)?.needsNoKeys ?? false else {
      throw .malformed(reason: "it says what nobody can say without keys")
    }
    return events
  }

  private static func take(
    _ count: Int, of bytes: inout ArraySlice<UInt8>
  ) throws(CryptoError) -> [UInt8] {
    guard bytes.count >= count else { throw .malformed(reason: "it is cut short") }
    defer { bytes = bytes.dropFirst(count) }
    return Array(bytes.prefix(count))
  }

  // MARK: Files

  /// The number above the greatest; where somebody has made a file with the last one, any that is free.
  private func next(_ files: [WaitingFile]) -> UInt64 {
    let last = files.last?.number ?? 0
    if last < Limits.number { return last + 1 }
    let taken = Set(files.map(\.number))
    var free: UInt64 = 1
    while taken.contains(free) { free += 1 }
    return free
  }

  private func store(_ bytes: [UInt8], at file: WaitingFile) throws(VaultError) {
    try storing(state.store.replace(file.path, bytes, durably: true))
  }

  private func remove(_ file: WaitingFile) throws(VaultError) {
    try storing(state.store.remove(file.path))
  }
}

/// The name of a file of events that wait: `7`, or `7-3` for one that was made without keys and stands for three.
struct WaitingFile: Hashable, Sendable {
  let number: UInt64
  /// How many equal events it stands for; nil for a file that was made with keys.
  let count: UInt32?

  static let folder: BlobPath = "events"

  var isKeyless: Bool { count != nil }

  var path: BlobPath { Self.folder.appending(name) }

  private var name: String { count.map { "\(number)-\($0)" } ?? "\(number)" }

  init(number: UInt64, count: UInt32?) { (self.number, self.count) = (number, count) }

  init?(name: String) {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 2, let number = UInt64(parts[0]), 1...Limits.number ~= number else {
      return nil
    }
    self.number = number
    if parts.count == 2 {
      guard let count = UInt32(parts[1]), count > 0 else { return nil }
      self.count = count
    } else {
      count = nil
    }
    guard self.name == name else { return nil }
  }
}
