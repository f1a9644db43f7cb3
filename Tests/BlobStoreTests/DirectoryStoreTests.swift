import BlobStore
import CLinux
import Glibc
import SystemPackage
import TestSupport
import Testing
import Threads

/// What only a store on a disk has to do.
struct DirectoryStoreTests {
  private let folder: TemporaryFolder
  private let store: DirectoryStore

  init() throws {
    folder = try TemporaryFolder()
    store = try DirectoryStore.make(folder.appending("new/vault"))
  }

  private func path(_ name: String) -> String { "\(store.folder.string)/\(name)" }

  @Test func whatAnInterruptedWriterLeftIsKnownByItsName() {
    #expect(TemporaryName.ends("members/a/objects/" + TemporaryName.make(for: "b.c")))
    #expect(TemporaryName.ends(".vault.json.tmp-17-0a1b2c3d"))
    for path in [
      "", "vault.json", "vault.json.tmp-17-0a1b2c3d", ".a.tmp-17-0a1b2c3", ".a.tmp-x-0a1b2c3d",
      ".a-17-0a1b2c3d", ".tmp-17-0a1b2c3d/a",
    ] {
      #expect(!TemporaryName.ends(path), "\(path)")
    }
  }

  @Test func whatMayBeWrittenNowIsNotLeftOver() {
    let (made, day) = (1_700_000_000, 86_400)
    let path = "members/a/" + TemporaryName.make(for: "b", at: made)
    #expect(TemporaryName.ends(path))
    #expect(!TemporaryName.isLeftOver(path, at: made + 6 * day))
    #expect(TemporaryName.isLeftOver(path, at: made + 8 * day))
    #expect(!TemporaryName.isLeftOver(path, at: made - day))
    // With the id of a process, as in names of before.
    #expect(!TemporaryName.isLeftOver(".vault.json.tmp-17-0a1b2c3d", at: made))
    #expect(!TemporaryName.isLeftOver("members/a/b", at: made))
    // The one is left over some day, the others never.
    #expect(TemporaryName.ages(path))
    #expect(!TemporaryName.ages(".vault.json.tmp-17-0a1b2c3d"))
    #expect(!TemporaryName.ages("members/a/b"))
  }

  @Test func refusesARootThatIsMissing() {
    let missing = folder.appending("missing")
    #expect(throws: BlobStoreError.notFound(path: missing.string)) {
      try DirectoryStore(opening: missing)
    }
  }

  @Test func makesPrivateFilesAndFolders() throws {
    try store.create("a/blob", [1])
    try store.replace("b/blob", [1], durably: true)
    try store.put("c/blob", [1], .ifAbsent)
    let modes: [(String, UInt32)] = [
      ("a", 0o700), ("b", 0o700), ("c", 0o700), ("a/blob", 0o600), ("b/blob", 0o600),
      ("c/blob", 0o600),
    ]
    for (name, mode) in modes {
      var status = Glibc.stat()
      #expect(lstat(path(name), &status) == 0)
      #expect(status.st_mode & 0o777 == mode_t(mode), "\(name)")
    }
  }

  @Test(arguments: [
    ("/dev/shm", FileSystemKind.journaled), ("/proc", .unknown), ("/no/such", .unknown),
  ])
  func waitsForTheFileItselfWhereNothingIsKnown(_ folder: String, _ kind: FileSystemKind) {
    let number = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(number) }
    #expect(FileSystemKind.find(of: number) == kind)
  }

  @Test func followsNoLinkOutOfTheFolder() throws {
    let outside = try DirectoryStore.make(folder.appending("outside"))
    try outside.create("secret", [1])
    try store.create("good", [2])
    #expect(symlink(outside.folder.string, path("trap")) == 0)
    #expect(symlink("\(outside.folder.string)/secret", path("link")) == 0)
    let trapped = BlobStoreError.notABlob(path: "trap/secret")
    #expect(throws: trapped) { try store.read("trap/secret", limit: 9) }
    #expect(throws: trapped) { _ = try store.openForReading("trap/secret") }
    #expect(throws: trapped) { _ = try store.size(of: "trap/secret") }
    #expect(throws: trapped) { try store.create("trap/secret", [3]) }
    #expect(throws: trapped) { try store.replace("trap/secret", [3], durably: true) }
    #expect(throws: trapped) { try store.put("trap/secret", [3], .ifAbsent) }
    #expect(throws: trapped) { try store.remove("trap/secret") }
    #expect(throws: trapped) { try store.rename("good", to: "trap/secret") }
    #expect(throws: trapped) { try store.link("good", to: "trap/secret") }
    #expect(throws: BlobStoreError.notABlob(path: "trap")) { try store.list("trap") }
    #expect(throws: BlobStoreError.notABlob(path: "trap")) { try store.removeFolder("trap") }
    #expect(throws: BlobStoreError.notABlob(path: "link")) { try store.read("link", limit: 9) }
    #expect(throws: BlobStoreError.alreadyExists(path: "link")) { try store.create("link", []) }
    #expect(try outside.list(.root).map(\.name) == ["secret"])
    #expect(try outside.read("secret", limit: 9) == [1])
    #expect(try store.read("good", limit: 9) == [2])
  }

  @Test func replacingALinkLeavesItsTargetAlone() throws {
    let outside = try DirectoryStore.make(folder.appending("outside"))
    try outside.create("secret", [1])
    #expect(symlink("\(outside.folder.string)/secret", path("link")) == 0)
    try store.replace("link", [2], durably: false)
    #expect(try store.read("link", limit: 9) == [2])
    #expect(try outside.read("secret", limit: 9) == [1])
  }

  @Test func removingAFolderFollowsNoLink() throws {
    let outside = try DirectoryStore.make(folder.appending("outside"))
    try outside.create("secret", [1])
    try store.create("doomed/inner/blob", [1])
    #expect(symlink(outside.folder.string, path("doomed/inner/link")) == 0)
    try store.removeFolder("doomed")
    #expect(try store.list(.root).isEmpty)
    #expect(try outside.read("secret", limit: 9) == [1])
  }

  @Test func doesNotWaitForAPipe() throws {
    #expect(mkfifo(path("pipe"), 0o600) == 0)
    #expect(throws: BlobStoreError.notABlob(path: "pipe")) { try store.read("pipe", limit: 9) }
    #expect(throws: BlobStoreError.notABlob(path: "pipe")) { _ = try store.openForReading("pipe") }
    #expect(try store.list(.root).map(\.kind) == [.other])
  }

  @Test func olderKernelsFollowNoLinkEither() throws {
    try store.create("a/blob", [1])
    #expect(symlink("a", path("link")) == 0)
    let root = Glibc.open(store.folder.string, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(root) }
    func open(_ path: String) -> Int32 {
      let returned = kv_open_beneath_by_parts(root, path, O_RDONLY, 0)
      if returned >= 0 { close(returned) }
      return min(returned, 0)
    }
    #expect(open("a/blob") == 0)
    #expect(open("a/none") == -ENOENT)
    #expect(open("link") == -ELOOP)
    #expect(open("link/blob") == -ELOOP)
    #expect(open("a/../a/blob") == -EXDEV)
    #expect(open("/etc/passwd") == -EXDEV)
    #expect(open("a/blob/c") == -ENOTDIR)
    #expect(open(String(repeating: "x", count: 256)) == -ENAMETOOLONG)
  }

  @Test func survivesFoldersThatComeAndGo() throws {
    try store.create("a/1", [1])
    try store.removeFolder("a")
    try store.create("a/2", [2])
    try store.removeFolder("a")
    try store.create("b", [3])
    try store.rename("b", to: "a/3")
    #expect(try store.list("a").map(\.name) == ["3"])
  }

  /// As a copier does that puts an older state back, with deletions, while this machine writes.
  @Test func writesWhereFoldersAreEmptiedMeanwhile() throws {
    let isDone = Guarded(false)
    let emptied = Guarded(0)
    let started = SystemThread.start { [store] in
      while !isDone.withLock({ $0 }) {
        // It meets what is written meanwhile, as a copier does; a write that waits for a busy disk has time to be done again.
        try? store.removeFolder("a")
        emptied.withLock { $0 += 1 }
        usleep(5_000)
      }
    }
    defer {
      isDone.withLock { $0 = true }
      if let started { pthread_join(started, nil) }
    }
    try #require(started != nil)
    var number = 0
    while emptied.withLock({ $0 }) < 100 {
      number += 1
      try store.put(BlobPath("a/blob \(number)"), [1], .ifAbsent)
      try store.put("a/blob", [2], .always)
      try store.replace("a/other", [3], durably: false)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
  func leavesNothingTornOnAFullDisk() throws {
    let place = store.folder.string
    let mounted = try CommandRunner.run(
      "mount", ["-t", "tmpfs", "-o", "size=64k", "kinvault-test", place])
    try #require(mounted.status == 0, "\(mounted.errors)")
    defer {
      let unmounted = try? CommandRunner.run("umount", [place])
      #expect(unmounted?.status == 0)
    }
    do {
      let full = try DirectoryStore(opening: store.folder)
      try full.create("old", [1])
      let tooMuch = [UInt8](repeating: 7, count: 128 << 10)
      #expect(throws: BlobStoreError.noSpace(path: "new")) { try full.create("new", tooMuch) }
      for durably in [false, true] {
        #expect(throws: BlobStoreError.noSpace(path: "old")) {
          try full.replace("old", tooMuch, durably: durably)
        }
      }
      #expect(try full.list(.root).map(\.name) == ["old"])
      #expect(try full.read("old", limit: 9) == [1])
      try full.create("small", [UInt8](repeating: 7, count: 8 << 10))
    }
  }

  @Test func mapsErrorsToWhatTheyMean() {
    let cases: [(Int32, BlobStoreError)] = [
      (ENOSPC, .noSpace(path: "p")), (EDQUOT, .noSpace(path: "p")), (EFBIG, .noSpace(path: "p")),
      (EROFS, .readOnly(path: "p")), (EACCES, .permission(path: "p")),
      (EPERM, .permission(path: "p")), (ENOENT, .notFound(path: "p")),
      (EEXIST, .alreadyExists(path: "p")), (EIO, .io(path: "p", errno: EIO)),
    ]
    for (errno, error) in cases { #expect(BlobStoreError(errno: errno, path: "p") == error) }
    #expect(BlobStoreError.io(path: "p", errno: EIO).message.hasPrefix("p: "))
    #expect(
      BlobStoreError.unexpectedReply(path: "", status: 501, text: "").message
        == "the store gave an answer that makes no sense (status 501)")
  }
}
