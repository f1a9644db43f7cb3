import Log
import Rendering
import SystemPackage
import Tokens
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import Window

/// How the page unlocks this machine's vault and locks it: as commands do, by the key that is kept between them.
final class PageGate: VaultGate {
  private let folder: FilePath
  private let id: VaultID
  private let passwordFile: String?
  private let acceptsRollback: Bool
  let log: BackgroundLog
  let renderer: Renderer?

  /// - Parameter access: Where the password is to be had without a question, if anywhere, and whether to go on with a folder
  ///   that is older than this machine remembers it.
  init(
    _ folder: FilePath, of id: VaultID, _ access: AccessOptions, _ renderer: Renderer?,
    log: BackgroundLog
  ) {
    (self.folder, self.id, self.renderer, self.log) = (folder, id, renderer, log)
    (passwordFile, acceptsRollback) = (access.passwordFile, access.acceptRollback)
  }

  var name: String { folder.lastComponent?.string ?? folder.string }

  func open() throws -> Vault? {
    let slots = try UnlockSlots(of: .here(in: folder))
    if let key = try SessionKeys.load(vault: id), try slots.opensDevice(key) {
      return try open(UnlockedKey(key))
    }
    let opening = try SlotOpening.of(folder, passwordFile: passwordFile)
    guard let opened = try opening.runWithoutAsking() else { return nil }
    return try open(UnlockedKey(opened))
  }

  func ways() -> [UnlockWay] {
    // Where it cannot be told, there is the password.
    let slots = (try? SlotOpening.of(folder, passwordFile: nil).slotsAtHand()) ?? []
    return slots.map { slot in
      UnlockWay(
        id: slot.id.hex, name: slot.name,
        asksForPassword: slot.parts.contains { $0.kind == .password },
        asksForPIN: slot.parts.contains(where: \.asksForPIN),
        asksForTouch: slot.parts.contains { $0.kind == .token })
    }
  }

  func open(_ answers: consuming UnlockAnswers) throws -> Vault {
    let opening = try SlotOpening.of(folder, passwordFile: nil)
    guard let way = answers.way else {
      return try open(UnlockedKey(try opening.run(password: answers.password)))
    }
    guard let slot = try opening.slotsAtHand().first(where: { $0.id.hex == way }) else {
      throw VaultError.notFound(what: "way to unlock the vault")
    }
    do {
      return try open(
        UnlockedKey(try opening.run(slot, password: answers.password, pin: answers.pin)))
    } catch TokenError.wrongPIN {
      throw WrongPIN()
    }
  }

  private func open(_ unlocked: consuming UnlockedKey) throws -> Vault {
    try MountCommits.request(in: folder)
    let vault = try Vault.open(
      folder, key: unlocked.key, use: .reading, acceptsRollback: acceptsRollback, log: log)
    if let way = unlocked.way {
      vault.audit.note(.unlock, detail: way)
      try SessionKeys.store(unlocked.key, vault: id, timeout: SessionKeys.defaultTimeout)
    }
    try LazyAccess.prepareIfLazy(vault, key: unlocked.key)
    return vault
  }

  func isUnlocked() -> Bool {
    // Where it cannot be told, nothing locks it but the page itself.
    do { return try SessionKeys.holds(vault: id) } catch { return true }
  }

  func keepUnlocked() { _ = try? SessionKeys.load(vault: id) }

  func lock() {
    do { try SessionKeys.remove(vault: id) } catch {
      Terminal.note("kinvault: \(FailureReport(error).message)")
    }
  }

  func takeInMounts() {
    do { try MountCommits.request(in: folder) } catch { log.failed(.refresh, error) }
  }

  func remotes(of vault: Vault) throws -> [RemoteLine] {
    try RemoteStatus.all(of: id).map { remote in
      var remote = remote
      remote.complete(by: vault)
      return remote.line
    }
  }

  func sync(
    _ vault: Vault, progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws -> [RemoteProblem] {
    guard let key = try SessionKeys.load(vault: id) else {
      throw CommandError.locked("The vault is locked. To unlock it: kinvault unlock")
    }
    let order = SyncOutcome.Order(showsProgress: false, progress: progress, waits: true)
    let remotes = try KnownRemote.find([], vault: id, key: key)
    let outcomes = remotes.syncAll(vault, order)
    for (position, (remote, outcome)) in zip(remotes, outcomes).enumerated() {
      log.note(outcome, remote: position + 1, kind: remote.logKind)
    }
    return outcomes.flatMap(\.attention)
  }

  func message(of error: any Error) -> String { FailureReport(error).message }
}
