import BlobStore
import MachineState
import Synchronization
import TestSupport
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultFiles
@testable import VaultSync

/// One device of a scenario: its folder, its state, and the vault as its mount shows it.
final class Device {
  /// What the person at the device was told.
  struct Message {
    var text: String
    /// More than a note: a scenario has to say that it comes.
    var needsExpecting: Bool
  }

  let name: String
  let person: String
  private let id: VaultID
  private var key: Cast.UnlockKey
  private let time: WorldTime
  private let clock: DeviceClock
  private(set) var store: MemoryStore
  private(set) var stateStore: MemoryStore
  /// Nil while it is locked.
  private(set) var open: (vault: Vault, tree: FileTree)?
  var isOnline = true
  var messages: [Message] = []
  /// Files that a program has open, by path.
  var handles: [String: FileHandle] = [:]
  /// Copies of its folder.
  var backups: [String: MemoryStore] = [:]

  init(_ seat: Cast.Seat, of id: VaultID, in time: WorldTime) throws {
    (name, person) = (seat.device, seat.person)
    (self.id, key, self.time) = (id, seat.key, time)
    store = seat.store.imageAfterKill()
    stateStore = seat.state.imageAfterKill()
    clock = DeviceClock(time)
    try unlock()
  }

  // MARK: State

  var isLocked: Bool { open == nil }

  /// Whose it is, as the vault knows them.
  private(set) var personID = PersonID.zero
  /// As which device the vault knows it.
  private(set) var deviceID = DeviceID.zero

  func canReach(_ remote: Remote) -> Bool {
    !remote.isDown && (isOnline || remote.isAtHand)
  }

  /// How far its clock is ahead of the right time, in milliseconds.
  var clockOffset: Int64 {
    get { clock.offset }
    set { clock.offset = newValue }
  }

  struct Locked: Error, CustomStringConvertible {
    let description = "the vault is locked"
  }

  var vault: Vault {
    get throws {
      guard let open else { throw Locked() }
      return open.vault
    }
  }

  var tree: FileTree {
    get throws {
      guard let open else { throw Locked() }
      return open.tree
    }
  }

  /// - Parameter acceptsRollback: An older folder was put here on purpose.
  func unlock(acceptsRollback: Bool = false) throws {
    guard open == nil else { return }
    let vault = try Vault.open(
      VaultCopy(
        id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
      key: key.key, options: OpenOptions(acceptRollback: acceptsRollback))
    (personID, deviceID) = (vault.person, vault.device)
    open = (vault, FileTree.load(vault: vault, options: FileTreeOptions(uid: 1000, gid: 1000)))
  }

  /// Opens the vault once more, as a command does beside the mount.
  func besides<Value>(_ body: (Vault) throws -> Value) throws -> Value {
    let vault = try Vault.open(
      VaultCopy(
        id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock),
      key: key.key, options: OpenOptions())
    let value = try body(vault)
    try vault.close()
    try tree.refresh()
    return value
  }

  func lock() throws {
    guard let open else { return }
    try open.tree.commitNow()
    try open.vault.close()
    handles = [:]
    self.open = nil
  }

  /// The process is killed, or with a seed the power fails; then it starts again.
  func crash(powerCut seed: UInt64? = nil) throws {
    handles = [:]
    open = nil
    store = seed.map { store.imageAfterPowerCut(seed: $0) } ?? store.imageAfterKill()
    stateStore = seed.map { stateStore.imageAfterPowerCut(seed: $0) } ?? stateStore.imageAfterKill()
    try unlock()
  }

  /// The folder is as it was when it looked like this.
  func restore(_ image: MemoryStore) throws {
    try lock()
    store = image.imageAfterKill()
  }

  /// The machine is lost with all that is on it; a new one of this name is made a device with the words.
  ///
  /// Words that are not, or no more, the person's are a message, and it stays lost.
  func replace(with words: String, from remote: Remote) throws {
    let words = try RecoveryWords(parsing: words)
    let seat: Cast.Seat
    do {
      seat = try Cast.recover(person, name, id, words, from: remote.store, at: clock.wallClock)
    } catch let error as VaultError {
      messages.append(Message(text: error.message, needsExpecting: true))
      return
    }
    handles = [:]
    open = nil
    (store, stateStore, key) = (seat.store, seat.state, seat.key)
    try unlock()
  }

  // MARK: What it does

  /// Does something to the vault; what a person is told when it fails is a message.
  func manage(_ body: (Vault) throws(VaultError) -> Void) throws {
    let vault = try vault
    do throws(VaultError) {
      try body(vault)
    } catch {
      messages.append(Message(text: error.message, needsExpecting: true))
    }
    try tree.refresh()
  }

  /// Does something in the mounted view and commits it; what a program is told when it fails is a message.
  func act(_ body: (FileTree) throws -> Void) throws {
    let tree = try tree
    do {
      try body(tree)
      try tree.commitNow()
    } catch let error as FileError {
      messages.append(Message(text: "\(error)", needsExpecting: true))
    }
  }

  /// Syncs, and remembers what the person is told.
  ///
  /// - Returns: nil when the sync was not carried out.
  @discardableResult
  func sync(
    _ remote: Remote, _ change: (inout SyncOptions) -> Void = { _ in }
  ) throws -> SyncReport? {
    var options = SyncOptions()
    change(&options)
    guard let name = RemoteName(remote.name) else { preconditionFailure("no name: \(remote.name)") }
    let access = RemoteAccess(inner: remote.store, isReachable: canReach(remote))
    do throws(SyncError) {
      let report: SyncReport
      if let open {
        report = try RemoteSync(
          vault: open.vault, remote: access, name: name, options: options
        ).run()
        open.tree.refresh()
      } else {
        report = try RemoteSync(
          .locked(
            VaultCopy(
              id: id, store: store, state: StateFolder(store: stateStore), clock: clock.wallClock)),
          remote: access, name: name, options: options
        ).run()
      }
      messages += report.problems.map {
        Message(text: "\($0.path): \($0.text)", needsExpecting: $0.severity > .note)
      }
      return report
    } catch {
      messages.append(Message(text: error.message, needsExpecting: true))
      return nil
    }
  }

  /// What is remembered of remotes is lost.
  func forget(_ remote: Remote) throws {
    try stateStore.remove(BlobPath("remotes/\(remote.name).state"))
  }
}

/// A device's clock: the world's time, perhaps wrong, and a millisecond later at each look.
private final class DeviceClock: Sendable {
  private struct State {
    var offset: Int64 = 0
    var now: UInt64 = 0
    var looks: UInt64 = 0
  }

  private let time: WorldTime
  private let state = Mutex(State())

  init(_ time: WorldTime) { self.time = time }

  var offset: Int64 {
    get { state.withLock { $0.offset } }
    set { state.withLock { $0.offset = newValue } }
  }

  var wallClock: WallClock {
    WallClock { [self] in
      let now = time.now
      return state.withLock { state in
        state.looks = now == state.now ? state.looks + 1 : 0
        state.now = now
        return UInt64(max(0, Int64(now) + state.offset)) + state.looks
      }
    }
  }
}
