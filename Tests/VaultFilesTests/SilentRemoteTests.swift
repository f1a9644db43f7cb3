import BlobStore
import Dispatch
import Glibc
import MachineState
import Testing
import Threads
import VaultErrors
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// A lazy vault whose remote says nothing for a while: only who needs what it has waits for it.
@Suite struct SilentRemoteTests {
  private final class SilentRemote: ChunkSource {
    private struct State {
      var files: [ObjectName: [UInt8]] = [:]
      var isSilent = false
      var askedCount = 0
    }

    private let state = Monitor(State())

    func keep(_ file: [UInt8], as name: ObjectName) { state.change { $0.files[name] = file } }

    func setSilent(_ isSilent: Bool) { state.change { $0.isSilent = isSilent } }

    /// Whether anybody has asked it within four minutes.
    var isAsked: Bool {
      for _ in 0..<240_000 where state.withLock({ $0.askedCount }) == 0 { usleep(1000) }
      return state.withLock { $0.askedCount } > 0
    }

    func fetch(
      _ chunk: ObjectName, of member: MemberID, where isWhole: ([UInt8]) -> Bool
    ) throws(VaultError) -> [UInt8] {
      state.change { $0.askedCount += 1 }
      state.wait { $0.isSilent ? Monitor<State>.Look<Void>.wait : .answer(()) }
      guard let file = state.withLock({ $0.files[chunk] }) else {
        throw .away(path: chunk.hex, reason: "it is not here")
      }
      return file
    }

    func holds(
      _ chunk: ObjectName, byteCount: UInt64, of member: MemberID, under head: StandingHead?
    ) throws(VaultError) -> Bool { true }
  }

  private let mounted: MountedVault
  private let remote = SilentRemote()
  private let content: [UInt8]

  /// One file of a chunk and a half, both of them elsewhere.
  init() throws {
    let content = (0..<(3 << 19)).map { UInt8(truncatingIfNeeded: $0 / 4099) }
    self.content = content
    mounted = try MountedVault.prepared { tree in
      for path in ["Emma", "Emma/scan", "Emma/other"] { try tree.mkdir(path) }
      try tree.write("Emma/scan/image", content)
    }
    try Self.leaveChunks(of: mounted, on: remote)
  }

  /// From now on the vault is lazy, and has all chunks of its first member there.
  private static func leaveChunks(of mounted: MountedVault, on remote: SilentRemote) throws {
    let state = try StateFolder.open(root: mounted.stateRoot, vault: mounted.vault.id)
    try state.storeLazySettings(LazySettings())
    try mounted.remount()
    let store = try DirectoryStore(opening: mounted.folder)
    let member = try #require(mounted.vault.members.first)
    for object in try member.objects.listed() {
      let path = BlobPath(member.objects.vaultPath(of: object.name).string)
      let file = try store.read(path, limit: 2 << 20)
      guard file[5] == ObjectKind.chunk.rawValue else { continue }
      remote.keep(file, as: object.name)
      try store.remove(path)
    }
    try mounted.remount()
    mounted.vault.lazyChunks?.setSource(remote)
  }

  /// A write into the midst of a file needs what is there already. Others have changed that file when another one is saved.
  @Test func aSaveBesideAWriteThatWaitsDoesNotWait() throws {
    let tree = mounted.tree
    let other = try mounted.mountOnAnotherDevice()
    let image = try tree.open("Emma/scan/image")
    remote.setSilent(true)
    let writer = Worker {
      do { try image.put([1], at: 5) } catch { Issue.record(error) }
    }
    #expect(remote.isAsked)
    try other.write("Emma/scan/image", "theirs")
    try other.commitNow()
    // Too large for the redo file, so that it is committed.
    let note = try tree.create("Emma/other/note")
    try note.put([UInt8](repeating: 3, count: 200_000), at: 0)
    let isSaved = DispatchSemaphore(value: 0)
    let saver = Worker {
      do { try note.sync() } catch { Issue.record(error) }
      isSaved.signal()
    }
    #expect(isSaved.wait(timeout: .now() + 240) == .success)
    remote.setSilent(false)
    writer.join()
    saver.join()
    note.release()
    try image.flush()
    image.release()
    try tree.commitNow()
    tree.refresh()
    var mine = content
    mine[5] = 1
    #expect(try tree.read("Emma/scan/image") == mine)
    let top = "Emma/\(ConflictMark.folderTitle)"
    let kept = try tree.list(top).map { try tree.text("\(top)/\($0)/image") }
    #expect(kept == ["theirs"])
  }

  /// What a mount asks first, on one of the few threads that take requests.
  @Test func aWriteThatNeedsTheRemoteSaysSoAndHasDoneNothing() throws {
    let image = try mounted.tree.open("Emma/scan/image")
    remote.setSilent(true)
    let isWritten = try withUnsafeBytes(of: UInt8(1)) { bytes in
      try image.writeIfHere(at: 5, bytes, as: .atOffset, by: nil)
    }
    #expect(!isWritten)
    #expect(try image.flushIfHere())
    remote.setSilent(false)
    try image.put([1], at: 5)
    var mine = content
    mine[5] = 1
    #expect(try image.get(at: 0, count: content.count) == mine)
    image.release()
  }

  /// The same of other sizes, of ranges, and of the last close of what was made longer. What is copied is read instead.
  @Test func changesThatNeedTheRemoteWaitForNothing() throws {
    let tree = mounted.tree
    let inode = try tree.find("Emma/scan/image")
    let longer = AttributeChange(size: UInt64(content.count + 10))
    remote.setSilent(true)
    #expect(try tree.setAttributesIfHere(inode, longer, through: nil, by: nil) == nil)
    let image = try tree.open("Emma/scan/image")
    #expect(try !image.allocateIfHere(.punchHole, at: 5, length: 10, by: nil))
    let attributes = try tree.setAttributesIfHere(inode, longer, through: image, by: nil)
    #expect(attributes?.size == UInt64(content.count + 10))
    let copy = try tree.create("Emma/other/copy")
    let isCopied = DispatchSemaphore(value: 0)
    let copier = Worker {
      do {
        let copied = try image.copyRange(at: 0, to: copy, at: 0, length: 1 << 20)
        #expect(copied == nil)
      } catch {
        Issue.record(error)
      }
      isCopied.signal()
    }
    #expect(isCopied.wait(timeout: .now() + 240) == .success)
    #expect(!image.releaseIfHere())
    remote.setSilent(false)
    copier.join()
    copy.release()
    try image.allocate(.punchHole, at: 5, length: 10)
    image.release()
    try tree.commitNow()
    var wanted = content + [UInt8](repeating: 0, count: 10)
    for index in 5..<15 { wanted[index] = 0 }
    #expect(try tree.read("Emma/scan/image") == wanted)
  }

  /// This device had written something when new keys came, which goes under these before anything else is written.
  private func underNewKeys() throws -> ApartDevices {
    let apart = try ApartDevices { tree in
      for path in ["Emma", "Liam"] { try tree.mkdir(path) }
    }
    let mounted = apart.here
    try mounted.tree.write("Emma/image", content)
    try mounted.tree.commitNow()
    let emma = apart.vaultThere.members.first { $0.name.string == "Emma" }
    try apart.vaultThere.beginEpoch(of: #require(emma), without: [])
    try Self.leaveChunks(of: mounted, on: remote)
    try apart.bringHere()
    return apart
  }

  /// It cannot be had, and the mount ends all the same, as by a signal.
  @Test func whatWaitsForTheRemoteAtTheEndIsKept() throws {
    let apart = try underNewKeys()
    let mounted = apart.here
    mounted.vault.lazyChunks?.setSource(nil)
    mounted.tree.refresh()
    try mounted.tree.write("Emma/note", "mine")
    #expect(throws: FileError.away) { try mounted.tree.stop() }
    try mounted.crash()
    #expect(mounted.vault.problems.contains { $0.kind == .unfinished })
    mounted.vault.lazyChunks?.setSource(remote)
    let emma = try #require(mounted.vault.members.first { $0.name.string == "Emma" })
    try emma.bringWhatIsLate()
    try mounted.vault.redoWhatCrashesLeft()
    mounted.tree.refresh()
    #expect(try mounted.tree.text("Emma/note") == "mine")
    #expect(try mounted.tree.read("Emma/image") == content)
  }

  /// The same of a file that somebody has open.
  @Test func whatCannotBeSealedAtTheEndIsNamed() throws {
    let image = try mounted.tree.open("Emma/scan/image")
    try image.truncate(to: UInt64(content.count + 10))
    mounted.vault.lazyChunks?.setSource(nil)
    #expect(throws: FileError.away) { try mounted.tree.stop() }
    try mounted.vault.audit.flush()
    let events = try mounted.vault.audit.read().events.map(\.event)
    #expect(events.contains { $0.action == "unsaved" && $0.detail.hasSuffix("and lost") })
    image.release()
  }

  @Test func aCommitUnderNewKeysHoldsUpNobodyElse() throws {
    let apart = try underNewKeys()
    let mounted = apart.here
    let tree = mounted.tree
    remote.setSilent(true)
    tree.refresh()
    // Too large for the redo file, so that it is committed.
    let note = try tree.create("Emma/note")
    try note.put([UInt8](repeating: 3, count: 200_000), at: 0)
    #expect(try !note.syncIfHere())
    let saver = Worker {
      do { try note.sync() } catch { Issue.record(error) }
    }
    #expect(remote.isAsked)
    let other = try tree.create("Liam/note")
    try other.put([UInt8](repeating: 3, count: 200_000), at: 0)
    #expect(try other.syncIfHere())
    other.release()
    remote.setSilent(false)
    saver.join()
    note.release()
    #expect(tree.unsaved.isEmpty)
    #expect(try mounted.mountAgain(readOnly: true).list("Emma") == ["image", "note"])
    #expect(try tree.read("Emma/image") == content)
  }

  /// What lists say of a record stands at the beginning of its note.
  @Test func aNoteThatIsElsewhereKeepsNothingFromBeingSaved() throws {
    let tree = mounted.tree
    mounted.vault.lazyChunks?.setSource(nil)
    try tree.rename("Emma/scan/image", "Emma/scan/record.md")
    try tree.write("Emma/other/note", "saved")
    try tree.commitNow()
    #expect(try mounted.mountAgain(readOnly: true).text("Emma/other/note") == "saved")
    #expect(try mounted.mountAgain(readOnly: true).list("Emma/scan") == ["record.md"])
  }

  /// The next look shows what others have made of a file that nothing could be written to.
  @Test func whatOthersHaveMadeShowsWhereTheWriteFails() throws {
    let tree = mounted.tree
    let image = try tree.open("Emma/scan/image")
    mounted.vault.lazyChunks?.setSource(nil)
    #expect(throws: FileError.away) { try image.put([1], at: 5) }
    try mounted.command { try $0.write("Emma/scan/image", "theirs") }
    tree.refresh()
    #expect(try image.get(at: 0, count: 9) == Array("theirs".utf8))
    image.release()
  }

  /// The kernel has let it go, and whoever changed it may not be there any more.
  @Test func aPageOfAMappingThatCannotBeTakenIsTold() throws {
    let tree = mounted.tree
    let image = try tree.open("Emma/scan/image")
    mounted.vault.lazyChunks?.setSource(nil)
    for _ in 0..<2 {
      #expect(throws: FileError.away) { try image.put([1], at: 5, as: .ofMapping) }
    }
    try mounted.vault.audit.flush()
    let events = try mounted.vault.audit.read().events.map(\.event)
    #expect(events.filter { $0.action == "unsaved" }.map(\.name) == [try tree.name("image")])
    #expect(throws: FileError.away) { try image.flush() }
    #expect(throws: Never.self) { try image.flush() }
    image.release()
  }

  /// A file was made longer whose last part is elsewhere: to be sealed it needs that.
  @Test func whatNeedsTheRemoteIsSavedLast() throws {
    let tree = mounted.tree
    let image = try tree.open("Emma/scan/image")
    try image.truncate(to: UInt64(content.count + 10))
    try tree.write("Emma/other/note", "saved")
    remote.setSilent(true)
    let saver = Worker {
      do { try tree.commitNow() } catch { Issue.record(error) }
    }
    #expect(remote.isAsked)
    var isSaved = false
    for _ in 0..<2400 where !isSaved {
      isSaved = try mounted.mountAgain(readOnly: true).list("Emma/other") == ["note"]
      if !isSaved { usleep(100_000) }
    }
    #expect(isSaved)
    remote.setSilent(false)
    saver.join()
    image.release()
    #expect(tree.unsaved.isEmpty)
    let longer = content + [UInt8](repeating: 0, count: 10)
    #expect(try tree.read("Emma/scan/image") == longer)
    #expect(try mounted.mountAgain(readOnly: true).list("Emma/scan") == ["image"])
  }

  /// Who seals all that waits has looked for it before, and may have waited for a remote since: by then somebody was told that a
  /// file could not be sealed, has closed it, and written it anew.
  @Test func whatWasLetGoOfIsNotSealedOverWhatCameAfterIt() throws {
    let tree = mounted.tree
    let image = try tree.open("Emma/scan/image")
    try image.truncate(to: UInt64(content.count + 10))
    mounted.vault.lazyChunks?.setSource(nil)
    #expect(throws: FileError.away) { try image.flush() }
    image.release()
    try tree.write("Emma/scan/image", "anew")
    mounted.vault.lazyChunks?.setSource(remote)
    try tree.publish(image.file, image.draft)
    #expect(try tree.text("Emma/scan/image") == "anew")
  }
}
