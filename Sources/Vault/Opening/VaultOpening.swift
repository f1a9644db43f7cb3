import BlobStore
import Glibc
import Log
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// How a vault is opened.
package struct OpenOptions: Sendable {
  /// Nothing in the vault folder is written, not even the audit log.
  package var readOnly: Bool
  /// Go on although this machine has seen a newer state of the vault folder: an older backup was put
  /// back on purpose. Counters then go on above everything that was ever used.
  package var acceptRollback: Bool
  /// Where the vault says what fails while nobody looks.
  package var log: BackgroundLog

  package init(readOnly: Bool = false, acceptRollback: Bool = false, log: BackgroundLog = .silent) {
    self.readOnly = readOnly
    self.acceptRollback = acceptRollback
    self.log = log
  }
}

extension Vault {
  /// Opens a copy of the vault with this machine's device.
  ///
  /// Damage to one member or person hides only those and is listed in `problems`.
  ///
  /// - Throws: `noDeviceHere`, `damagedSlot`; `rolledBack` when the folder
  ///   is older than this machine has seen it, unless the options accept it; `damaged` or `missing`
  ///   when this person's own closings or certificates are.
  package static func open(
    _ copy: VaultCopy, key: borrowing DeviceUnlockKey, options: OpenOptions = OpenOptions()
  ) throws(VaultError) -> Vault {
    let (context, marks, problems, isCrowded) = try openContext(copy, key: key, options: options)
    let keys = context.keys
    let (profile, generation) = try loadProfile(
      of: context.device, person: context.person, keys: keys, files: context.signedFiles)
    let vault = Vault(id: copy.id, context: context, profile: profile, problems: problems)
    do {
      try vault.openNewMembers(
        RollbackGuard(marks: marks, isLifted: options.acceptRollback))
      for problem in try vault.problems(of: context.people) { vault.note(problem) }
      if isCrowded, !options.readOnly {
        // Strangers have filled what is remembered of people: now it can be told who is none.
        _ = try vault.rememberedVouching()
        try context.reloadPeople()
      }
      if !options.readOnly, let generation, generation != keys.generation {
        try vault.renewRegister()
      }
      if !options.readOnly { try vault.partWhereNeeded() }
      if !options.readOnly { try vault.audit.prepareForNotesWithoutKeys() }
      if !options.readOnly { try vault.noteClock() }
      if options.acceptRollback, !options.readOnly { try vault.audit.acceptOlderFolder() }
      try vault.redoWhatCrashesLeft()
      // Its head takes the place of the one that was kept, which says what of that was committed.
      if !options.readOnly { try vault.keepRest() }
      vault.removeDerivedOfOthers()
    } catch {
      context.staging?.remove()
      throw error
    }
    return vault
  }

  /// Everything but the members: who this is, with which keys, and who else is in the vault.
  ///
  /// - Returns: Also the watermarks as they were before any register was read, what was found wrong and can be lived with,
  ///   and whether there was no room to remember something of other people.
  static func openContext(
    _ copy: VaultCopy, key: borrowing DeviceUnlockKey, options: OpenOptions
  ) throws(VaultError) -> (
    context: VaultContext, marks: Watermarks, problems: [Problem], isCrowded: Bool
  ) {
    let (files, state) = (copy.files, copy.state)
    let file = try state.loadDevice(vault: copy.id)
    // Before any head is read, whose objects must stay until all of them are.
    let reading = try ReadingMark.take(in: state)
    // Before any register is read: one that is written meanwhile must not look like a rollback.
    let marks = try state.loadWatermarks()
    let memory = try state.loadPeopleMemory()
    let people = try People.load(store: copy.store, files: files, memory: memory)
    let person = try ownPerson(file.person, people)
    let slotKey = key.sealingKey(binding: copy.binding)
    let device = try slotKey.openDeviceKeys(
      of: file, path: state.describe(StateFolder.devicePath))
    let keys: PersonKeys
    do {
      keys = try PersonKeys.open(person, device: device, files: files, memory: memory)
    } catch {
      if case .thisDeviceRemoved = error { try state.removeDerived() }
      throw error
    }
    let (lost, isCrowded) = try keep(
      people, keys, of: file.person, in: copy, isReadOnly: options.readOnly)
    var problems = people.problems + lost
    let staging =
      try options.readOnly
      ? nil : makeStaging(in: copy, device: device.id)
    if let damage = staging?.damage { problems.append(.staging(damage)) }
    let context = VaultContext(
      copy, people: people, person: file.person, keys: keys, device: device, slotKey: slotKey,
      isReadOnly: options.readOnly, staging: staging,
      lazySettings: try state.loadLazySettings(), reading: reading,
      log: options.log, folderNumber: copy.folder?.lastingFolderNumber ?? 0)
    return (context, marks, problems, isCrowded)
  }

  private static func makeStaging(
    in copy: VaultCopy, device: DeviceID
  ) throws(VaultError) -> Staging {
    try copy.state.withLock("staging-lock") { () throws(VaultError) in
      try Staging.make(
        in: copy.store, root: copy.folder, device: device,
        token: "\(getpid())-\(Hex.encode(randomBytes(8)))")
    }
  }

  private static func ownPerson(
    _ id: PersonID, _ people: People
  ) throws(VaultError) -> Person {
    if let person = people[id] { return person }
    let folder = BlobPath("people/\(id.hex)/closings").string
    if let broken = people.problems.first(where: { $0.path.hasPrefix(folder) }) {
      throw .damaged(path: broken.path, reason: .broken(broken.reason))
    }
    throw .missing(path: folder)
  }

  /// Remembers what counts of people, and puts back what the folder lacks of it.
  private static func keep(
    _ people: People, _ keys: PersonKeys, of own: PersonID, in copy: VaultCopy, isReadOnly: Bool
  ) throws(VaultError) -> (lost: [Problem], isCrowded: Bool) {
    var isCrowded = false
    if !isReadOnly {
      try people.putBack(into: copy.store)
      isCrowded = try copy.state.remember(people, own: own, wraps: keys.wraps)
    }
    let lost = people.lost.keys.map(\.string).sorted().map { path in
      Problem.gone(path, isReadOnly: isReadOnly)
    }
    return (lost, isCrowded)
  }

  /// What this device says of itself, and under which generation; no more than a name, so that a vault without it opens all
  /// the same.
  private static func loadProfile(
    of device: ThisDevice, person: PersonID, keys: PersonKeys, files: SignedFiles
  ) throws(VaultError) -> (DeviceProfile, generation: StatementID?) {
    do {
      let (body, _) = try files.loadRegisterBody(
        of: device.id, person: person, signingPublicKey: device.signingKey.publicKey)
      return (try files.profile(in: body, keys: keys), body.generation)
    } catch {
      if case .missing = error { return (.unnamed, nil) }
      guard error.isWaiting else { throw error }
      return (.unnamed, nil)
    }
  }
}

extension Problem {
  /// A damaged disk keeps what is in the staging folder; nothing durable is.
  fileprivate static func staging(_ damage: VaultError) -> Problem {
    Problem(
      .damaged, .warning, path: Staging.folder.string,
      reason: "\(damage.message) Only unfinished work of programs that have ended is in this "
        + "folder, nothing that was saved.")
  }
}
