import BlobStore
import Dispatch
import Glibc
import Synchronization
import SystemPackage
import Testing
import Threads

@testable import VaultFiles
@testable import VaultMount

/// The whole way through the kernel. One at a time: each has a vault, threads and a mount of its own.
@Suite(
  .serialized,
  .enabled(if: MountFixture.isPossible, "NOT TESTED: /dev/fuse cannot be opened by this user"))
struct MountTests {
  @Test func isListedWithItsTypeAndVault() throws {
    let fixture = try MountFixture()
    let entry = try MountTable.entry(at: fixture.mountpoint)
    #expect(entry?.type == "fuse.kinvault")
    #expect(entry?.source == fixture.temporary.path.appending("vault"))
    #expect(POSIX.names(fixture.mountpoint) == ["Emma"])
    let running = try MountRegistry.runningMounts(stateFolder: fixture.stateFolder)
    #expect(running.map(\.mountpoint) == [fixture.mountpoint])
    #expect(running.map(\.process) == [getpid()])
  }

  /// Whoever uses the mount or unmounts it in the instant in which it is there has it commit, and waits for its end.
  @Test func whoSeesTheMountFindsItRegistered() throws {
    let fixture = try MountFixture()
    for _ in 0..<30 {
      #expect(try fixture.end() == .unmounted)
      let isRegistered = Mutex<Bool?>(nil)
      let (mountpoint, stateRoot) = (fixture.mountpoint, fixture.stateRoot)
      let watcher = MountThread {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
          guard (try? MountTable.isVaultMount(mountpoint)) == true else { continue }
          let isFound: Bool
          do {
            isFound = try MountRegistry.watch(mountpoint, stateRoot: stateRoot) != nil
          } catch {
            isFound = false
          }
          isRegistered.withLock { $0 = isFound }
          return
        }
      }
      try fixture.start()
      watcher.join()
      #expect(isRegistered.withLock { $0 } == true)
    }
  }

  @Test func contentSurvivesUnmountingAndTheMountpointDoesNot() throws {
    let fixture = try MountFixture()
    let content = (0..<3_000_017).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
    try POSIX.write(fixture.emma.appending("scan.dcm"), content)
    try POSIX.call(mkdir(fixture.emma.appending("Vaccines").string, 0o755))
    try POSIX.write(fixture.emma.appending("Vaccines").appending("card"), [1, 2, 3])
    #expect(try fixture.end() == .unmounted)
    #expect(permissions(fixture.mountpoint) == nil)
    #expect(try MountRegistry.runningMounts(stateFolder: fixture.stateFolder).isEmpty)
    try fixture.start()
    #expect(try POSIX.read(fixture.emma.appending("scan.dcm")) == content)
    #expect(try POSIX.read(fixture.emma.appending("Vaccines").appending("card")) == [1, 2, 3])
  }

  @Test func aSaveDanceLeavesTheNewContentAndNoOther() throws {
    let fixture = try MountFixture()
    let file = fixture.emma.appending("record.md")
    let draft = fixture.emma.appending(".record.md.swp")
    try POSIX.write(file, Array("old".utf8))
    let descriptor = try POSIX.call(
      open(draft.string, O_CREAT | O_WRONLY | O_EXCL | O_CLOEXEC, 0o600))
    #expect(write(descriptor, "newer", 5) == 5)
    try POSIX.call(fsync(descriptor))
    close(descriptor)
    try POSIX.call(rename(draft.string, file.string))
    #expect(try POSIX.read(file) == Array("newer".utf8))
    #expect(POSIX.names(fixture.emma) == ["record.md"])
  }

  @Test func anUnlinkedFileLivesOnWhileItIsOpen() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("note")
    let descriptor = try POSIX.call(open(path.string, O_CREAT | O_RDWR | O_CLOEXEC, 0o600))
    defer { close(descriptor) }
    #expect(write(descriptor, "abc", 3) == 3)
    try POSIX.call(unlink(path.string))
    #expect(pwrite(descriptor, "defg", 4, 3) == 4)
    var status = stat()
    try POSIX.call(fstat(descriptor, &status))
    #expect(status.st_size == 7)
    #expect(status.st_nlink == 0)
    var bytes = [UInt8](repeating: 0, count: 7)
    #expect(pread(descriptor, &bytes, 7, 0) == 7)
    #expect(bytes == Array("abcdefg".utf8))
  }

  /// A shared mapping of a file's 8,192 bytes, whose descriptor is closed.
  private func mapped(_ path: FilePath) throws -> UnsafeMutablePointer<UInt8> {
    let descriptor = try POSIX.call(open(path.string, O_RDWR | O_CLOEXEC))
    defer { close(descriptor) }
    let memory = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    try #require(memory != MAP_FAILED)
    return try #require(memory).assumingMemoryBound(to: UInt8.self)
  }

  @Test func aSharedMappingWritesThrough() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("mapped")
    try POSIX.write(path, [UInt8](repeating: 7, count: 8192))
    let bytes = try mapped(path)
    bytes[5000] = 9
    try POSIX.call(msync(bytes, 8192, MS_SYNC))
    munmap(bytes, 8192)
    #expect(try POSIX.read(path)[5000] == 9)
    try fixture.end()
    try fixture.start()
    #expect(try POSIX.read(path)[4999...5001] == [7, 9, 7])
  }

  /// The kernel writes what a program has changed in a mapping when it pleases: others may have written the file by then.
  @Test func aMappingIsWrittenBeforeItsFileShowsWhatOthersWrote() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("mapped")
    try POSIX.write(path, [UInt8](repeating: 7, count: 8192))
    let tree = try #require(fixture.mount).service.tree
    try tree.commitNow()
    let bytes = try mapped(path)
    bytes[0] = 9
    try fixture.writeElsewhere([8], at: 5000, to: "mapped")
    tree.refresh()
    try POSIX.call(msync(bytes, 8192, MS_SYNC))
    munmap(bytes, 8192)
    try fixture.end()
    try fixture.start()
    let found = try POSIX.read(path)
    #expect(found.first == 9)
    #expect(found.dropFirst().allSatisfy { $0 == 7 })
  }

  /// A command reads the vault, and not the mount.
  @Test func whatAMappingHoldsIsCommittedForACommand() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("mapped")
    try POSIX.write(path, [UInt8](repeating: 7, count: 8192))
    let bytes = try mapped(path)
    bytes[5000] = 9
    #expect(try MountRegistry.commitAll(stateFolder: fixture.stateFolder, within: 240).isEmpty)
    #expect(try fixture.readElsewhere("mapped")[5000] == 9)
    munmap(bytes, 8192)
  }

  /// Whether the kernel comes to show a file with these permissions.
  private func shows(_ mode: mode_t, of path: FilePath) -> Bool {
    let end = ContinuousClock.now + .seconds(120)
    while permissions(path) != mode {
      if ContinuousClock.now >= end { return false }
      usleep(20_000)
    }
    return true
  }

  /// Changes a file in the tree, without a word to the kernel.
  private func setMode(_ mode: UInt32, of inode: VaultFiles.Inode, in tree: FileTree) throws {
    _ = try tree.setAttributes(inode, AttributeChange(mode: mode), through: nil)
  }

  /// An answer that is under way may bring what was there before, of a file of which the kernel knew nothing when it was told.
  @Test func whatTheKernelDidNotKnowYetItIsToldAgain() throws {
    let fixture = try MountFixture()
    for name in ["file", "other"] { try POSIX.write(fixture.emma.appending(name), []) }
    // It is told again after a second, in which a busy machine may not come to what is between.
    for number in 0..<60 {
      try fixture.end()
      try fixture.start()
      if try isToldAgain(number.isMultiple(of: 2) ? 0o604 : 0o640, in: fixture) { return }
    }
    Issue.record("it was never told between the two times")
  }

  /// - Returns: False if too much time went by to say.
  private func isToldAgain(_ mode: UInt32, in fixture: MountFixture) throws -> Bool {
    let mount = try #require(fixture.mount)
    let tree = mount.service.tree
    let (file, other) = (fixture.emma.appending("file"), fixture.emma.appending("other"))
    let emma = try tree.lookup(FileTree.root, FileTree.name(Array("Emma".utf8))).inode
    let unknown = try tree.lookup(emma, FileTree.name(Array("file".utf8))).inode
    let known = try tree.lookup(emma, FileTree.name(Array("other".utf8))).inode
    #expect(permissions(other) != mode)
    try setMode(mode, of: known, in: tree)
    let invalidator = Invalidator(session: mount.session, log: tree.log)
    defer { invalidator.finish() }
    let began = ContinuousClock.now
    invalidator.add(.attributes(unknown))
    invalidator.add(.attributes(known))
    // The kernel is told of one after the other: by then it was told of the file, and learns only now what is there.
    #expect(shows(mode, of: other))
    #expect(permissions(file) != mode)
    try setMode(mode, of: unknown, in: tree)
    guard ContinuousClock.now - began < .milliseconds(900) else { return false }
    #expect(shows(mode, of: file))
    return true
  }

  /// To drop a name the kernel waits for whoever uses its folder, which may take as long as a remote does.
  @Test func aNameThatWaitsForItsFolderKeepsNothingElseFromBeingDropped() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("file")
    try POSIX.write(path, [])
    let mount = try #require(fixture.mount)
    let tree = mount.service.tree
    let file = try VaultFiles.Inode(POSIX.status(path).st_ino)
    let name = try FileTree.name(Array("Noah".utf8))
    let invalidator = Invalidator(session: mount.session, log: tree.log)
    let folder = fixture.mountpoint.appending("Liam")
    let making = tree.top.withLock { _ in
      // Until this lock is free the kernel waits for an answer, and lets nobody else change names at the top.
      let making = MountThread { mkdir(folder.string, 0o755) }
      usleep(200_000)
      invalidator.add(.entry(parent: FileTree.root, name: name))
      #expect(throws: Never.self) { try setMode(0o604, of: file, in: tree) }
      invalidator.add(.attributes(file))
      #expect(shows(0o604, of: path))
      return making
    }
    making.join()
    #expect(POSIX.names(fixture.mountpoint) == ["Emma", "Liam"])
    invalidator.finish()
    try fixture.end()
  }

  /// There are more of them than threads that take requests.
  @Test(arguments: [true, false])
  func callsThatWaitForARemoteHoldUpNothingElse(areReads: Bool) throws {
    let fixture = try MountFixture()
    let files = (1...30).map { fixture.emma.appending("scan \($0)") }
    for (number, file) in files.enumerated() {
      try POSIX.write(file, [UInt8](repeating: UInt8(number), count: 100_000))
    }
    let remote = SilentRemote()
    defer { remote.giveUp() }
    try fixture.startLazily(from: remote)
    let callers = files.map { file in
      MountThread {
        if areReads {
          _ = try? POSIX.read(file)
        } else {
          // Made longer, it is sealed at once, with its last part.
          _ = truncate(file.string, 200_000)
        }
      }
    }
    for _ in 0..<60_000 where remote.askedCount < 12 { usleep(1000) }
    let path = fixture.emma.appending("beside")
    let isSaved = DispatchSemaphore(value: 0)
    let saver = MountThread {
      let descriptor = open(path.string, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
      if write(descriptor, "abc", 3) == 3, fsync(descriptor) == 0 { isSaved.signal() }
      close(descriptor)
    }
    #expect(isSaved.wait(timeout: .now() + 240) == .success)
    remote.giveUp()
    for thread in callers + [saver] { thread.join() }
    #expect(try POSIX.read(path) == Array("abc".utf8))
    let refusal = #expect(throws: MountError.self) { try POSIX.read(files[0]) }
    guard case .system(_, _, ENETUNREACH)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
  }

  @Test func namesNeedNotBeText() throws {
    let fixture = try MountFixture()
    let name: [UInt8] = [0xff, 0xfe, 0x20, 0x0a, 0x80]
    let path = FilePath(bytes: fixture.emma.bytes + [UInt8(ascii: "/")] + name)
    let descriptor = try POSIX.call(
      path.withPlatformString { open($0, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600) })
    close(descriptor)
    #expect(FolderNames.readable(in: fixture.emma) == [name])
    let long = fixture.emma.appending(String(repeating: "x", count: 256))
    #expect(throws: POSIX.Failure(errno: ENAMETOOLONG)) { try POSIX.write(long, []) }
  }

  @Test func aLargeDirectoryIsListedWhole() throws {
    let fixture = try MountFixture()
    for number in 0..<3000 { try POSIX.write(fixture.emma.appending("file \(number)"), []) }
    #expect(POSIX.names(fixture.emma).count == 3000)
    #expect(Set(POSIX.names(fixture.emma)).count == 3000)
  }

  @Test func aRequestThatCannotBeServedIsAnErrorNotAnEnd() throws {
    let fixture = try MountFixture()
    #expect(throws: POSIX.Failure(errno: ENOENT)) {
      try POSIX.status(fixture.emma.appending("none"))
    }
    #expect(throws: POSIX.Failure(errno: EISDIR)) {
      try POSIX.write(fixture.emma, [], flags: 0)
    }
    #expect(POSIX.names(fixture.mountpoint) == ["Emma"])
  }

  /// Opens what is there, or a new file, in a mount that ends when nobody uses it. Where that was before, as the machine had much
  /// else to do, another one begins.
  private func use(
    _ path: FilePath, _ flags: Int32, in fixture: MountFixture, _ options: MountOptions
  ) throws -> Int32 {
    for _ in 0..<20 {
      let descriptor = open(path.string, flags | O_CLOEXEC, 0o600)
      if descriptor >= 0 { return descriptor }
      let mount = try #require(fixture.mount)
      #expect(try mount.waitUntilEnded() == .idle)
      fixture.forgetMount()
      try fixture.start(options)
    }
    throw POSIX.Failure(errno: EBUSY)
  }

  @Test func endsWhenNobodyUsesItAndNotBefore() throws {
    var options = MountOptions()
    options.idleTimeout = .seconds(4)
    let fixture = try MountFixture(options: options)
    let path = fixture.emma.appending("held")
    let descriptor = try use(path, O_CREAT | O_WRONLY, in: fixture, options)
    let mount = try #require(fixture.mount)
    usleep(6_000_000)
    #expect(try MountTable.isVaultMount(fixture.mountpoint))
    close(descriptor)
    #expect(try mount.waitUntilEnded() == .idle)
    #expect(permissions(fixture.mountpoint) == nil)
    fixture.forgetMount()
  }

  /// Every command asks for that, and a page that is open does every other second.
  @Test func endsWhenNobodyUsesItWhateverIsToBeCommitted() throws {
    var options = MountOptions()
    options.idleTimeout = .seconds(1)
    let fixture = try MountFixture(options: options)
    let mount = try #require(fixture.mount)
    let end = ContinuousClock.now + .seconds(120)
    while try MountTable.isVaultMount(fixture.mountpoint), .now < end {
      _ = try MountRegistry.commitAll(stateFolder: fixture.stateFolder, within: 240)
      usleep(100_000)
    }
    if ContinuousClock.now >= end { mount.requestEnd(.unmounted) }
    #expect(try mount.waitUntilEnded() == .idle)
    fixture.forgetMount()
  }

  @Test func staysThoughNobodyUsesItWhileSomethingIsNotSaved() throws {
    var options = MountOptions()
    options.idleTimeout = .seconds(2)
    let fixture = try MountFixture(options: options)
    // So that it does not end before there is something to be saved.
    let descriptor = try use(fixture.emma, O_RDONLY | O_DIRECTORY, in: fixture, options)
    let mount = try #require(fixture.mount)
    let members = fixture.temporary.path.appending("vault").appending("members")
    let name = try #require(FolderNames.readable(in: members).first)
    let folder = members.appending(String(decoding: name, as: UTF8.self))
    let away = FilePath("\(folder) away")
    try POSIX.call(rename(folder.string, away.string))
    try POSIX.write(folder, [])
    let note = fixture.emma.appending("note")
    try POSIX.write(note, Array("abc".utf8))
    close(descriptor)
    usleep(6_000_000)
    #expect(try MountTable.isVaultMount(fixture.mountpoint))
    try POSIX.call(unlink(folder.string))
    try POSIX.call(rename(away.string, folder.string))
    #expect(try mount.waitUntilEnded() == .idle)
    fixture.forgetMount()
    try fixture.start()
    #expect(try POSIX.read(note) == Array("abc".utf8))
  }

  @Test func endsWithFilesOpenAndKeepsWhatWasWritten() throws {
    let fixture = try MountFixture()
    let path = fixture.emma.appending("held")
    let descriptor = try POSIX.call(open(path.string, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
    #expect(write(descriptor, "abc", 3) == 3)
    try fixture.end()
    #expect(write(descriptor, "def", 3) == -1)
    close(descriptor)
    try fixture.start()
    #expect(try POSIX.read(path) == Array("abc".utf8))
  }

  @Test func anUnmountInUseIsRefusedAndNamesTheMount() throws {
    let fixture = try MountFixture()
    let descriptor = try POSIX.call(
      open(fixture.emma.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
    defer { close(descriptor) }
    let error = #expect(throws: MountError.self) {
      try Unmount.run(fixture.mountpoint, stateRoot: fixture.stateRoot)
    }
    guard case .busy(fixture.mountpoint, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(POSIX.names(fixture.mountpoint) == ["Emma"])
  }

  @Test func anUnmountWaitsForAProgramThatIsJustLettingGo() throws {
    let fixture = try MountFixture()
    let mount = try #require(fixture.mount)
    var isGone = false
    // On a busy machine it may let go after more than the two seconds that it gets.
    for _ in 0..<10 where !isGone {
      let descriptor = try POSIX.call(
        open(fixture.emma.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
      let holder = MountThread {
        usleep(700_000)
        close(descriptor)
      }
      do throws(MountError) {
        try KernelUnmount.run(fixture.mountpoint, lazily: false)
        isGone = true
      } catch {
        guard case .busy = error else { throw error }
      }
      holder.join()
    }
    try #require(isGone)
    #expect(try mount.waitUntilEnded() == .unmounted)
    fixture.forgetMount()
  }

  @Test func aSecondMountAtTheSamePlaceIsRefused() throws {
    let fixture = try MountFixture()
    #expect(throws: MountError.alreadyMounted(fixture.mountpoint)) { try fixture.start() }
    #expect(POSIX.names(fixture.mountpoint) == ["Emma"])
  }
}
