import ArgumentParser
import Glibc
import Log
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// Which vault.
struct FolderOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The vault's folder. Default: $KINVAULT_VAULT, else the current folder or the nearest above it.",
      valueName: "folder"),
    completion: .directory)
  var vault: String?

  /// - Throws: `notFound` where no vault is named and none is around; `notPermitted` where that cannot be told.
  func folder() throws(CommandError) -> FilePath { try VaultLocation.find(named: vault) }
}

/// Which vault, and how to unlock it.
struct AccessOptions: ParsableArguments {
  @OptionGroup var folderOptions: FolderOptions

  @Option(
    help: ArgumentHelp(
      "Take the password from this file (\u{2018}-\u{2019}: standard input), for this command only.",
      valueName: "file"),
    completion: .file())
  var passwordFile: String?

  @Flag(help: "Go on although the folder is an older backup that was put back on purpose.")
  var acceptRollback = false
}

/// The key of this machine's device, and how it was got.
struct UnlockedKey: ~Copyable {
  let key: DeviceUnlockKey
  /// What the way is called that it was unlocked by just now; nil where it was unlocked already.
  let way: String?

  /// Unlocked already.
  init(_ key: consuming DeviceUnlockKey) {
    self.key = key
    way = nil
  }

  init(_ opened: consuming UnlockSlots.OpenedSlot) {
    way = opened.slot.name
    key = opened.takeKey()
  }
}

extension AccessOptions {
  /// Opens the vault, runs the body, closes the vault.
  ///
  /// - Parameter namesFallen: Whether the person is told of members that fell with a device; false for the command to which
  ///   that would send them.
  func withVault<Value>(
    _ use: VaultUse, namesFallen: Bool = true, _ body: (Vault) throws -> Value
  ) throws -> Value {
    try withVaultAndKey(use, namesFallen: namesFallen) { vault, _ in try body(vault) }
  }

  /// `withVault` for writing, also on a disk that is so full that nothing can be written: then once more after
  /// `makeRoom`, which may only remove.
  ///
  /// - Throws: Where the disk is full all the same, also when the vault is closed, what to do about other files: the command
  ///   that would make room of this vault is the one that was given.
  func withVault<Value>(
    makingRoomBy makeRoom: (Vault) throws -> Void, _ body: (Vault) throws -> Value
  ) throws -> Value {
    do {
      return try withDeferredVault(.writing) { deferred in
        func attempt() throws -> Value {
          let vault = try deferred.opened()
          joinWhatArrived(in: vault, .writing)
          resumeEpochs(in: vault, .writing)
          return try body(vault)
        }
        do { return try attempt() } catch {
          guard FailureReport(error).status == .noSpace else { throw error }
        }
        // What it cannot write now it writes when there is room.
        do { try deferred.close() } catch {
          guard FailureReport(error).status == .noSpace else { throw error }
        }
        let vault = try open(deferred.folder, key: deferred.unlocked.key, use: .reading)
        try makeRoom(vault)
        try vault.close()
        return try attempt()
      }
    } catch {
      guard FailureReport(error).status == .noSpace else { throw error }
      throw CommandError.noRoom(
        "The disk of the vault is full, and nothing more of the vault may be removed to make room on it. What was "
          + "saved before is safe, and can be read. Move or delete other files on that disk, and try again."
      )
    }
  }

  /// `withVault`, with the key of this machine's device besides.
  func withVaultAndKey<Value>(
    _ use: VaultUse, namesFallen: Bool = true,
    _ body: (Vault, borrowing DeviceUnlockKey) throws -> Value
  ) throws -> Value {
    try withDeferredVault(use, namesFallen: namesFallen) { deferred in
      let vault = try deferred.opened()
      try RemoteStatus.tellDecisions(of: vault.id)
      joinWhatArrived(in: vault, use)
      resumeEpochs(in: vault, use)
      return try body(vault, deferred.unlocked.key)
    }
  }

  /// Runs the body with a vault that it may open, and closes that.
  func withDeferredVault<Value>(
    _ use: VaultUse, namesFallen: Bool = true, _ body: (DeferredVault) throws -> Value
  ) throws -> Value {
    let folder = try folderOptions.folder()
    try MountCommits.request(in: folder)
    let deferred = DeferredVault(
      folder: folder, unlocked: try unlockKey(folder: folder), access: self, use: use,
      namesFallen: namesFallen)
    let value: Value
    do { value = try body(deferred) } catch {
      closeAfterFailure(deferred)
      throw error
    }
    do { try deferred.tellWhatPeopleSettle() } catch {
      tellThatItIsSaved(use, but: "what waits for somebody to decide could not be found out")
      closeAfterFailure(deferred)
      throw error
    }
    do { try deferred.close() } catch {
      // What is on a full disk can be read.
      if case .reading = use, FailureReport(error).status == .noSpace {
        tellThatItIsNotNoted(error)
        return value
      }
      tellThatItIsSaved(use, but: "the audit log could not be written")
      throw error
    }
    return value
  }

  private func closeAfterFailure(_ deferred: DeferredVault) {
    do { try deferred.close() } catch { tellThatItIsNotNoted(error) }
  }

  private func tellThatItIsNotNoted(_ error: any Error) {
    Terminal.note("kinvault: The audit log could not be written: \(FailureReport(error).message)")
  }

  /// Who takes it for undone does it twice. Says no more than that: what a command does once the vault is closed, such as giving
  /// up this machine's keys, is not done.
  private func tellThatItIsSaved(_ use: VaultUse, but rest: String) {
    guard case .writing = use else { return }
    Terminal.note("kinvault: What was changed in the vault is saved; only \(rest).")
  }

  /// Joins versions that know nothing of each other, as a mount does: any program may have copied them here. Where that
  /// fails the command goes on: it may be the one that mends it.
  private func joinWhatArrived(in vault: Vault, _ use: VaultUse) {
    guard !vault.isReadOnly else { return }
    var failures: [MemberFailure] = []
    for member in vault.members where member.hasConcurrentVersions || member.hasLinesToTell {
      do { _ = try member.joinConcurrent() } catch {
        failures.append(MemberFailure(member.id, error))
      }
    }
    // Who only looks sees one of the versions all the same.
    guard case .writing = use else { return }
    failures.tell("What was written in two places could not be joined", in: vault)
  }

  /// Goes on with new keys whose making was interrupted: until they are made somebody has access who is to have none. Where
  /// that fails the command goes on: it may be the one that mends it.
  private func resumeEpochs(in vault: Vault, _ use: VaultUse) {
    guard case .writing = use, !vault.isReadOnly else { return }
    let interrupted = vault.interruptedEpochs()
    if interrupted.values.isEmpty, interrupted.failures.isEmpty { return }
    let names = interrupted.values.compactMap { vault.member($0.member)?.name.string }
    if !names.isEmpty {
      let shown = names.map(Terminal.visible).joined(separator: ", ")
      Terminal.note("kinvault: Encrypting \(shown) anew was interrupted; going on with it.")
    }
    let bar = ProgressBar(.items)
    defer { bar.finish() }
    // What cannot be told of a member cannot be gone on with either, for the same reason.
    let failures = vault.resumeEpochs { bar.update($0) }.failures
    let failed = Set(failures.map(\.member))
    let others = vault.removeOldObjects().filter { !failed.contains($0.member) }
    bar.finish()
    failures.tell("Encrypting it anew could not be gone on with", in: vault)
    others.tell("Files under its old keys could not be removed", in: vault)
    vault.tellLeftBehind()
  }

  /// An open vault, which the caller closes.
  func open(_ use: VaultUse) throws -> Vault {
    let folder = try folderOptions.folder()
    return try open(folder, try unlockKey(folder: folder), use)
  }

  func open(
    _ folder: FilePath, _ unlocked: borrowing UnlockedKey, _ use: VaultUse,
    namesFallen: Bool = true, log: BackgroundLog = .silent
  ) throws -> Vault {
    let vault = try openAskingAboutRollback(folder, key: unlocked.key, use: use, log: log)
    if let way = unlocked.way { vault.audit.note(.unlock, detail: way) }
    for note in Self.notes(on: vault, namesFallen: namesFallen) { Terminal.note(note) }
    try Self.tellWhatWasNoted(in: vault, Terminal.note)
    return vault
  }

  /// Tells what happened while nobody had the keys, and what syncs have found, a line each. Where nobody looks, or what a command
  /// says is shown to nobody (`KINVAULT_TELL=later`), it waits for whoever does.
  ///
  /// - Throws: What could not be found out; what was found out before is told.
  static func tellWhatWasNoted(
    in vault: Vault, _ tell: (String) -> Void
  ) throws(VaultError) {
    guard Environment.value("KINVAULT_UNATTENDED") == nil,
      Environment.value("KINVAULT_TELL") != "later"
    else { return }
    for line in try SignInNotes.news(of: vault.audit.takeIn()) { tell("kinvault: \(line)") }
    if try !vault.readsNews().isEmpty {
      // The names first: once they are taken they count as told.
      let text = try ReadsText.load(of: vault)
      for news in try vault.takeReadsNews() { tell("kinvault: \(text.line(for: news))") }
    }
    let warning = try SignInNotes.warning(of: vault.state.tampering())
    if let warning { tell("kinvault: \(warning)") }
  }

  /// What the person is to know of what was found wrong when the vault was opened, a line each.
  static func notes(on vault: Vault, namesFallen: Bool = true) -> [String] {
    let serious = vault.problems.filter { $0.severity > .note }
    // A check would find no trace of what a view leaves aside, which it brings in, nor of what opening has put back.
    let toldNow = serious.filter { problem in
      switch problem.kind {
      case .unfinished, .dividedKeys: true
      case .rollback: problem.path.hasPrefix("people/")
      default: false
      }
    }
    var notes =
      toldNow.map { $0.kind == .rollback ? "\($0.path): \($0.reason)" : $0.reason }
      + vault.problems.filter { [.parted, .takenAlong, .heldBack].contains($0.kind) }.map(\.reason)
    let fallen = FallenMembers(among: serious)
    if namesFallen, let note = fallen.note { notes.append(note) }
    // Where nothing is remembered of either, the problem itself is told.
    if case .words(_, _?)? = vault.dividedKeys { notes += [vault.dividedKeys?.text ?? ""] }
    let others = serious.count - toldNow.count - fallen.problems.count
    if others > 0 {
      let count = counted(others, "problem was", "problems were")
      notes.append("\(count) found in this vault. To see what: kinvault check")
    }
    return notes.map { "kinvault: \(Terminal.visibleText($0))" }
  }

  /// An open vault with the remotes that this machine knows.
  func openWithRemotes(
    _ use: VaultUse, log: (VaultID) -> BackgroundLog
  ) throws -> (vault: Vault, remotes: [KnownRemote]) {
    let folder = try folderOptions.folder()
    let unlocked = try unlockKey(folder: folder)
    let vault = try open(folder, unlocked, use, log: log(try Vault.describe(folder: folder).vault))
    return (vault, try remotes(of: vault, key: unlocked.key))
  }

  /// The remotes that this machine knows for an open vault, which gets its chunks from them if it is lazy.
  func remotes(of vault: Vault, key: borrowing DeviceUnlockKey) throws -> [KnownRemote] {
    try LazyAccess.prepareIfLazy(vault, key: key)
    return try KnownRemote.whole(of: vault.id, key: key)
  }

  /// The key from the session keyring; else from the password, which is asked for if need be.
  func unlockKey(folder: FilePath) throws -> UnlockedKey {
    let id = try Vault.describe(folder: folder).vault
    if passwordFile == nil, let key = try SessionKeys.load(vault: id),
      // What opens nothing here is as good as none.
      try UnlockSlots(of: .here(in: folder)).opensDevice(key)
    {
      return UnlockedKey(key)
    }
    let opening = try SlotOpening.of(folder, passwordFile: passwordFile)
    guard case .terminal = opening.source else {
      return UnlockedKey(try opening.run())
    }
    SessionKeys.explainIfUnavailable()
    let unlocked = UnlockedKey(try opening.run())
    SessionKeys.keep(unlocked.key, vault: id)
    return unlocked
  }

  /// Asks about a folder that is older than this machine remembers it, if it is and there is a terminal to ask at.
  ///
  /// - Returns: False if there was nothing to ask, or nobody.
  /// - Throws: `refused` when the answer is no.
  func confirmRollback(
    _ folder: FilePath, key: borrowing DeviceUnlockKey, use: VaultUse
  ) throws -> Bool {
    guard !acceptRollback, TerminalPrompt() != nil else { return false }
    do {
      try open(folder, key: key, use: use).close()
      return false
    } catch {
      guard case .rolledBack = error else { throw error }
      try askAboutRollback(error)
      return true
    }
  }

  private func openAskingAboutRollback(
    _ folder: FilePath, key: borrowing DeviceUnlockKey, use: VaultUse, log: BackgroundLog
  ) throws -> Vault {
    do {
      return try open(folder, key: key, use: use, log: log)
    } catch {
      try askAboutRollback(error)
      return try Vault.open(folder, key: key, use: use, acceptsRollback: true, log: log)
    }
  }

  /// Returns when the person says yes to going on.
  ///
  /// - Throws: The error itself where it is another one or nobody can be asked.
  private func askAboutRollback(_ error: VaultError) throws {
    guard case .rolledBack(let path, let found, let seen) = error, let prompt = TerminalPrompt()
    else { throw error }
    prompt.show(
      """
      This vault's folder is older than this machine remembers it.
        \(VaultError.writer(of: path)): state \(found); this machine has seen state \(seen).
      If you put an older backup back on purpose, Kinvault can go on from here. What was written after the
      backup comes back where it still is: in this folder, on a remote, or on another device, with the next
      “kinvault sync”; this machine then goes on as a device of its own. If you did not, somebody or
      something exchanged files; answer no and look for the newer folder first.

      """)
    try Confirmation.require("Go on with the older state?", isGiven: false)
  }

  /// An open vault, with a key that is there already and without a question.
  func open(
    _ folder: FilePath, key: borrowing DeviceUnlockKey, use: VaultUse, log: BackgroundLog = .silent
  ) throws(VaultError) -> Vault {
    try Vault.open(folder, key: key, use: use, acceptsRollback: acceptRollback, log: log)
  }
}
