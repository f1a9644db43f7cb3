import BlobStore
import Threads
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// The folder in which one running process keeps the objects that no commit names yet.
/// Docs/Format.md, "Write order".
package final class Staging: Sendable {
  /// In which all processes have theirs.
  package static let folder: BlobPath = "staging"

  /// The folder of this process.
  package let path: BlobPath
  /// Why what dead processes left is still there, or was put aside: the disk is damaged. It is in nobody's way.
  package let damage: VaultError?
  private let store: any LocalStore
  // Held while the process lives: a token whose lock is free belongs to a dead process.
  private let lock: Guarded<FileLock?>
  private let held = Guarded(Held())
  private let unsettled = Guarded(UnsettledObjects())
  private let barriers = Guarded(())

  /// The small objects that wait in memory for the commit that names them.
  private struct Held: Sendable {
    var fileCount = 0
    var byteCount = 0

    /// What they take on a disk. Half a block a file is lost on average, a whole one at worst.
    var diskByteCount: UInt64 { UInt64(byteCount) + UInt64(fileCount) * Staging.blockByteCount }
  }

  private init(
    path: BlobPath, store: any LocalStore, lock: consuming FileLock?, damage: VaultError?
  ) {
    (self.path, self.store, self.damage) = (path, store, damage)
    self.lock = Guarded(lock)
  }

  /// Makes the staging folder of this process, and removes those that dead processes of this device
  /// left behind.
  ///
  /// Nothing durable is in any of them. So what cannot be read there stays, and where no new one can be made beside it,
  /// all of it is put aside.
  ///
  /// - Parameters:
  ///   - root: The vault folder on disk; nil for a store that has none, which then takes no lock.
  ///   - token: Tells this process from every other one of the device.
  package static func make(
    in store: any LocalStore, root: FilePath?, device: DeviceID, token: String
  ) throws(VaultError) -> Staging {
    let path = folder.appending(ownerPrefix(device) + token)
    var damage: VaultError?
    do {
      try removeLeftovers(store: store, root: root, device: device)
    } catch {
      guard case .io = error else { throw error }
      damage = error
    }
    let lockPath = path.appending("lock")
    do { try makeFile(lockPath, in: store) } catch {
      guard case .io = error else { throw error }
      try putAside(in: store, as: token, after: error)
      try makeFile(lockPath, in: store)
      damage = error
    }
    guard let root else { return Staging(path: path, store: store, lock: nil, damage: damage) }
    let lock = try storing(FileLock(at: root.appending(lockPath.string)))
    return Staging(path: path, store: store, lock: lock, damage: damage)
  }

  private static func makeFile(_ path: BlobPath, in store: any LocalStore) throws(VaultError) {
    try storing(store.replace(path, [], durably: false))
  }

  /// - Throws: `cause` if that cannot be done either.
  private static func putAside(
    in store: any LocalStore, as suffix: String, after cause: VaultError
  ) throws(VaultError) {
    do {
      try store.rename(folder, to: BlobPath("\(folder).damaged-\(suffix)"))
    } catch { throw cause }
  }

  /// Removes the folder; staged objects that no commit took are gone.
  package func remove() {
    lock.withLock { $0 = nil }
    // Whatever cannot be removed now is a leftover, which the next process removes.
    try? store.removeFolder(path)
  }

  /// Where the object of this name waits for a commit.
  func path(of name: ObjectName) -> BlobPath { path.appending(name.hex) }

  // MARK: Coming to their places

  /// Where a file is written that is to come to an object's place; another one each time.
  func arrivingPath(of name: ObjectName) -> BlobPath {
    path.appending("\(name.hex).\(UInt64.random(in: 0 ... .max))")
  }

  /// Puts a file in an object's place, over one that stands there. What it is nobody looks at.
  ///
  /// Whole or absent under its name whenever the process ends; on disk after the next barrier.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func place(
    _ name: ObjectName, of member: MemberID, file: [UInt8]
  ) throws(VaultError) {
    let arriving = arrivingPath(of: name)
    let final = BlobPath(VaultPath.object(member, name).string)
    try writing(name) { () throws(BlobStoreError) in
      try store.create(arriving, file)
      do throws(BlobStoreError) { try store.rename(arriving, to: final) } catch {
        // What cannot be removed either goes with the staging folder.
        do throws(BlobStoreError) { try store.remove(arriving) } catch {}
        throw error
      }
    }
  }

  // MARK: On the disk

  /// Runs `write`, which puts a new file in the object's place.
  ///
  /// - Parameter failures: `failedBarriers`, from before the file was written, where that was done before; nil where `write`
  ///   does it.
  func writing(
    _ name: ObjectName, since failures: UInt64? = nil,
    _ write: () throws(BlobStoreError) -> Void
  ) throws(VaultError) {
    let failuresNow = unsettled.withLock { $0.begin(name) }
    do { try write() } catch { throw VaultError(error) }
    unsettled.withLock { $0.end(name, since: failures ?? failuresNow) }
  }

  /// Whether a file that this process has put in the object's place may be on no disk, which no barrier says any more.
  package func isDoubtful(_ name: ObjectName) -> Bool { unsettled.withLock { $0.isDoubtful(name) } }

  /// A commit that failed had brought these to their places.
  func doubt(_ names: [ObjectName]) { unsettled.withLock { $0.doubt(names) } }

  /// How many barriers have failed so far. To be asked before the first write that a barrier is to be after.
  package var failedBarriers: UInt64 { unsettled.withLock { $0.failureCount } }

  /// `LocalStore.barrier`, for everybody who puts objects in their places.
  ///
  /// - Parameter failures: `failedBarriers`, from before the caller began to write.
  /// - Throws: Also where somebody else's has failed since: what the disk could not write may be what the caller has written, and
  ///   it says so once.
  package func barrier(since failures: UInt64) throws(VaultError) {
    // The next one finds nothing wrong where this one fails, so it begins only once that is noted.
    try barriers.withLock { (_) throws(VaultError) in
      let number = unsettled.withLock { $0.beginBarrier() }
      do throws(BlobStoreError) { try store.barrier() } catch {
        let failure = VaultError(error)
        unsettled.withLock { $0.fail(failure) }
        throw failure
      }
      let failure = unsettled.withLock { $0.succeed(number, since: failures) }
      if let failure { throw failure }
    }
  }

  // MARK: In memory

  /// Of most file systems.
  private static let blockByteCount: UInt64 = 4096
  /// Objects of at most this many bytes, sealed, may wait in memory.
  static let heldObjectSize = 64 << 10
  /// What all of them together may take.
  private static let heldByteLimit = 32 << 20
  /// What must be free on the disk besides: for the records, the segment and the folders of the commit.
  private static let spareByteCount: UInt64 = 16 << 20
  private static let spareFileCount: UInt64 = 1024

  /// Reserves room, in memory and on the disk, for an object that is written only when a commit takes it.
  ///
  /// - Returns: False when it has to be written at once: a disk that is almost full then says so to whoever writes.
  func hold(_ byteCount: Int) throws(VaultError) -> Bool {
    let space = try storing(store.space())
    return held.withLock { held in
      var next = held
      next.fileCount += 1
      next.byteCount += byteCount
      guard next.byteCount <= Self.heldByteLimit,
        space.availableBytes >= next.diskByteCount + Self.spareByteCount,
        space.hasRoom(forFiles: UInt64(next.fileCount) + Self.spareFileCount)
      else { return false }
      held = next
      return true
    }
  }

  /// What a chunk that is written at once leaves free on the disk, for the commit that names it: for the segment, the head
  /// and the log, and for each staged object a record and its folder.
  package static let commitByteCount: UInt64 = 1 << 20
  private static let recordByteCount: UInt64 = 2 * blockByteCount
  /// How many files such a chunk leaves free on the disk: for the folders of objects, and for what a commit writes besides records.
  private static let commitFileCount: UInt64 = 512

  /// Makes sure that the disk has room for a chunk that is written at once, and then still for the commit and for what was
  /// promised to the objects in memory: what a program was told is written must not wait for somebody who makes room.
  ///
  /// - Parameters:
  ///   - byteCount: The size of the chunk's file.
  ///   - stagedCount: How many objects are staged already.
  /// - Throws: `noSpace`.
  func requireRoom(for byteCount: Int, besides stagedCount: Int) throws(VaultError) {
    let space = try storing(store.space())
    let promised = held.withLock { $0 }
    let needed =
      UInt64(byteCount) + promised.diskByteCount + Self.commitByteCount
      + UInt64(stagedCount + 1) * Self.recordByteCount
    // The chunk, and a record for each that is staged.
    let files = UInt64(promised.fileCount + stagedCount + 2) + Self.commitFileCount
    guard space.availableBytes >= needed, space.hasRoom(forFiles: files) else {
      throw .noSpace(path: path.string)
    }
  }

  /// Gives the room back: the object was written, or is not needed any more.
  func letGo(_ byteCount: Int) {
    held.withLock { held in
      held.fileCount -= 1
      held.byteCount -= byteCount
    }
  }

  // MARK: What others left

  private static func ownerPrefix(_ device: DeviceID) -> String { "\(device.hex.prefix(16))-" }

  /// The staging folders of this device whose process no longer lives.
  static func leftovers(
    store: any LocalStore, root: FilePath?, device: DeviceID
  ) throws(VaultError) -> [BlobPath] {
    let entries = try storing(store.list(folder))
    var dead: [BlobPath] = []
    for entry in entries where entry.isFolder && entry.name.hasPrefix(ownerPrefix(device)) {
      let token = folder.appending(entry.name)
      guard let root else {
        dead.append(token)
        continue
      }
      let lockPath = root.appending(token.appending("lock").string)
      do {
        if try FileLock.attempt(at: lockPath) != nil { dead.append(token) }
      } catch {
        continue
      }
    }
    return dead
  }

  private static func removeLeftovers(
    store: any LocalStore, root: FilePath?, device: DeviceID
  ) throws(VaultError) {
    for token in try leftovers(store: store, root: root, device: device) {
      try storing(store.removeFolder(token))
    }
  }
}
