import Synchronization
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// Two processes of one device on one vault.
@Suite struct SharedVaultTests {
  private struct Pair {
    let mounted: MountedVault
    let other: FileTree
    var tree: FileTree { mounted.tree }

    init() throws {
      mounted = try MountedVault.prepared { tree in
        for path in ["Emma", "Emma/visit"] { try tree.mkdir(path) }
        try tree.write("Emma/visit/file", "old")
        try tree.write("Emma/visit/kept", "kept")
      }
      other = try mounted.mountAgain()
    }
  }

  @Test func showsWhatAnotherProcessCommitted() throws {
    let pair = try Pair()
    let handle = try pair.tree.open("Emma/visit/file", .read)
    defer { handle.release() }
    #expect(try handle.get(at: 0, count: 9) == Array("old".utf8))
    let seen = Mutex<[Invalidation]>([])
    pair.tree.setInvalidationHandler { one in seen.withLock { $0.append(one) } }
    let other = pair.other
    try other.write("Emma/visit/file", "newer")
    try other.write("Emma/visit/added", "added")
    try other.unlink("Emma/visit/kept")
    try other.mkdir("Emma/made")
    try other.rename("Emma/visit", "Emma/moved")
    try other.mkdir("Liam")
    try other.commitNow()
    let emma = try pair.tree.find("Emma")
    pair.tree.refresh()
    #expect(try pair.tree.list("") == ["Emma", "Liam"])
    #expect(try pair.tree.list("Emma") == ["made", "moved"])
    #expect(try pair.tree.list("Emma/moved") == ["added", "file"])
    #expect(try handle.get(at: 0, count: 9) == Array("newer".utf8))
    let invalidations = seen.withLock { $0 }
    #expect(invalidations.contains(.content(handle.inode)))
    #expect(invalidations.contains(.entry(parent: emma, name: FileName("visit")!)))
    #expect(invalidations.contains(.entry(parent: emma, name: FileName("made")!)))
    #expect(invalidations.contains(.entry(parent: FileTree.root, name: FileName("Liam")!)))
  }

  @Test func pendingChangesStayOnTop() throws {
    let pair = try Pair()
    try pair.tree.write("Emma/visit/file", "mine")
    try pair.tree.write("Emma/visit/also mine", "x")
    try pair.other.write("Emma/visit/file", "theirs")
    try pair.other.write("Emma/visit/kept", "theirs")
    try pair.other.commitNow()
    pair.tree.refresh()
    #expect(try pair.tree.text("Emma/visit/file") == "mine")
    #expect(try pair.tree.text("Emma/visit/kept") == "theirs")
    try pair.tree.commitNow()
    pair.other.refresh()
    #expect(try pair.other.text("Emma/visit/file") == "mine")
    #expect(try pair.other.list("Emma/visit") == ["also mine", "file", "kept"])
  }

  @Test func aBackgroundThreadCommitsAndFollows() throws {
    let mounted = try MountedVault {
      $0.commitDelay = .milliseconds(20)
      $0.pollInterval = .milliseconds(20)
    }
    let other = try mounted.mountAgain()
    mounted.tree.start()
    other.start()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.write("Emma/file", "x")
    let deadline = ContinuousClock.now + .seconds(120)
    var text: String?
    while text == nil, ContinuousClock.now < deadline {
      do { text = try other.text("Emma/file") } catch FileError.notFound {}
    }
    #expect(text == "x")
    try mounted.tree.stop()
    try other.stop()
  }

  @Test func twoRecordsOfOneTitleBothShow() throws {
    let pair = try Pair()
    try pair.tree.mkdir("Emma/same")
    try pair.tree.write("Emma/same/mine", "x")
    try pair.other.mkdir("Emma/same")
    try pair.other.write("Emma/same/theirs", "x")
    try pair.other.commitNow()
    try pair.tree.commitNow()
    pair.tree.refresh()
    pair.other.refresh()
    let names = try pair.tree.list("Emma").filter { $0.hasPrefix("same") }
    #expect(names.count == 2)
    #expect(try pair.other.list("Emma").filter { $0.hasPrefix("same") } == names)
  }

  @Test func manyThreadsAtOnceKeepEveryFile() throws {
    let mounted = try MountedVault { $0.commitDelay = .milliseconds(5) }
    let tree = mounted.tree
    tree.start()
    try tree.mkdir("Emma")
    let failures = Mutex<[String]>([])
    let threads = (0..<4).map { thread in
      Worker {
        do {
          try tree.mkdir("Emma/\(thread)")
          for number in 0..<50 {
            let path = "Emma/\(thread)/\(number)"
            let handle = try tree.create(path + ".tmp")
            try handle.put(Array("\(thread) \(number)".utf8), at: 0)
            if number.isMultiple(of: 10) { try handle.sync() }
            try handle.flush()
            handle.release()
            try tree.rename(path + ".tmp", path)
            if number.isMultiple(of: 3) { try tree.unlink(path) }
          }
        } catch {
          failures.withLock { $0.append("\(thread): \(error)") }
        }
      }
    }
    for thread in threads { thread.join() }
    #expect(failures.withLock { $0 } == [])
    try mounted.remount()
    for thread in 0..<4 {
      let expected = (0..<50).filter { !$0.isMultiple(of: 3) }
      #expect(try mounted.tree.list("Emma/\(thread)") == expected.map(String.init).sorted())
      for number in expected {
        #expect(try mounted.tree.text("Emma/\(thread)/\(number)") == "\(thread) \(number)")
      }
    }
  }
}
