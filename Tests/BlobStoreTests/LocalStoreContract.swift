import BlobStore
import TestSupport
import Testing

/// What every store on this machine must do; see the doc comments of `BlobStore` and `LocalStore`.
struct LocalStoreContract {
  /// The stores that the contract is checked on.
  enum Kind: String, CaseIterable {
    case directory, memory

    /// Runs the body with a new, empty store.
    func with(_ body: (any LocalStore) throws -> Void) throws {
      switch self {
      case .memory: try body(MemoryStore())
      case .directory:
        let folder = try TemporaryFolder()
        try body(DirectoryStore(opening: folder.path))
        withExtendedLifetime(folder) {}
      }
    }
  }

  @Test(arguments: Kind.allCases, BlobStoreContract.allCases)
  func keepsThePromisesOfEveryStore(kind: Kind, promise: BlobStoreContract) throws {
    try kind.with { try promise.check($0) }
  }

  @Test(arguments: Kind.allCases, [0, 1, 511, 4096, 65537])
  func returnsWhatWasCreated(kind: Kind, byteCount: Int) throws {
    try kind.with { store in
      var random = SplitMix64(seed: UInt64(byteCount))
      let bytes = random.bytes(byteCount)
      try store.create("a/b/c", bytes)
      #expect(try store.read("a/b/c", limit: byteCount) == bytes)
      #expect(try store.size(of: "a/b/c") == UInt64(byteCount))
    }
  }

  @Test(arguments: Kind.allCases)
  func saysWhatIsAbsent(kind: Kind) throws {
    try kind.with { store in
      for path: BlobPath in ["none", "no/such"] {
        let absent = BlobStoreError.notFound(path: path.string)
        #expect(throws: absent) { _ = try store.openForReading(path) }
        #expect(throws: absent) { try store.rename(path, to: "target") }
        #expect(throws: absent) { try store.link(path, to: "target") }
        #expect(throws: absent) { try store.renameDurably(path, to: "target") }
        try store.removeFolder(path)
      }
    }
  }

  @Test(arguments: Kind.allCases)
  func doesNotCreateOverABlob(kind: Kind) throws {
    try kind.with { store in
      try store.create("blob", [1])
      #expect(throws: BlobStoreError.alreadyExists(path: "blob")) { try store.create("blob", [2]) }
      #expect(try store.read("blob", limit: 9) == [1])
    }
  }

  @Test(arguments: Kind.allCases)
  func renamesOverWhatWasThereAndMakesTheFolder(kind: Kind) throws {
    try kind.with { store in
      try store.create("staging/x", [1])
      try store.rename("staging/x", to: "deep/new/y")
      try store.create("staging/z", [2])
      try store.rename("staging/z", to: "deep/new/y")
      #expect(try store.read("deep/new/y", limit: 9) == [2])
      #expect(try store.size(of: "staging/x") == nil)
      #expect(try store.size(of: "staging/z") == nil)
    }
  }

  @Test(arguments: Kind.allCases)
  func linksLiveOnWhenTheFirstNameGoes(kind: Kind) throws {
    try kind.with { store in
      try store.create("a", [7])
      try store.link("a", to: "folder/b")
      #expect(throws: BlobStoreError.alreadyExists(path: "folder/b")) {
        try store.link("a", to: "folder/b")
      }
      try store.remove("a")
      #expect(try store.read("folder/b", limit: 9) == [7])
    }
  }

  @Test(arguments: Kind.allCases, [false, true])
  func replacesWholly(kind: Kind, durably: Bool) throws {
    try kind.with { store in
      try store.replace("folder/blob", [1, 2, 3], durably: durably)
      try store.replace("folder/blob", [4], durably: durably)
      #expect(try store.read("folder/blob", limit: 9) == [4])
      #expect(try store.list("folder").map(\.name) == ["blob"])
    }
  }

  @Test(arguments: Kind.allCases)
  func overwritesInPlace(kind: Kind) throws {
    try kind.with { store in
      try store.replace("folder/blob", Array(0..<10), durably: true)
      try store.overwrite("folder/blob", at: 7, [70, 80, 90])
      try store.overwrite("folder/blob", at: 0, [100])
      #expect(try store.read("folder/blob", limit: 10) == [100, 1, 2, 3, 4, 5, 6, 70, 80, 90])
      let tooLong = BlobStoreError.io(path: "folder/blob", errno: 27)
      #expect(throws: tooLong) { try store.overwrite("folder/blob", at: 8, [1, 2, 3]) }
      #expect(throws: BlobStoreError.notFound(path: "no")) {
        try store.overwrite("no", at: 0, [1])
      }
      #expect(try store.read("folder/blob", limit: 10) == [100, 1, 2, 3, 4, 5, 6, 70, 80, 90])
    }
  }

  @Test(arguments: Kind.allCases)
  func readersKeepWhatTheyOpened(kind: Kind) throws {
    try kind.with { store in
      try store.create("blob", Array(0..<100))
      let reader = try store.openForReading("blob")
      try store.replace("blob", [9], durably: false)
      try store.remove("blob")
      #expect(reader.size == 100)
      var buffer = [UInt8](repeating: 0, count: 10)
      let read = { (offset: UInt64) in
        try buffer.withUnsafeMutableBytes { try reader.read(at: offset, into: $0) }
      }
      #expect(try read(20) == 10)
      #expect(buffer == Array(20..<30))
      #expect(try read(95) == 5)
      #expect(buffer[..<5] == [95, 96, 97, 98, 99])
      #expect(try read(100) == 0)
      #expect(try read(.max) == 0)
    }
  }

  @Test(arguments: Kind.allCases)
  func removesAFolderWithEverythingInIt(kind: Kind) throws {
    try kind.with { store in
      try store.create("a/b/c", [])
      try store.create("a/d", [])
      try store.create("ab", [])
      try store.removeFolder("a")
      #expect(try store.list(.root).map(\.name) == ["ab"])
      #expect(throws: BlobStoreError.notABlob(path: "ab")) { try store.removeFolder("ab") }
    }
  }

  @Test(arguments: Kind.allCases)
  func aFolderIsNoBlob(kind: Kind) throws {
    try kind.with { store in
      try store.create("folder/blob", [1])
      let wrong = BlobStoreError.notABlob(path: "folder")
      #expect(throws: wrong) { _ = try store.openForReading("folder") }
      #expect(throws: BlobStoreError.alreadyExists(path: "folder")) {
        try store.create("folder", [2])
      }
      #expect(try store.read("folder/blob", limit: 9) == [1])
    }
  }

  @Test(arguments: Kind.allCases)
  func barriersAndDurableRenamesSucceed(kind: Kind) throws {
    try kind.with { store in
      try store.create("folder/temporary", [1])
      try store.create("folder/blob", [2])
      try store.barrier()
      try store.renameDurably("folder/temporary", to: "folder/blob")
      try store.renameDurably("folder/blob", to: "new/blob")
      #expect(try store.read("new/blob", limit: 9) == [1])
      #expect(try store.list("folder").isEmpty)
      #expect(try store.space().totalBytes > 0)
    }
  }
}
