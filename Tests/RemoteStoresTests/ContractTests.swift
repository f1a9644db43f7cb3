import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// Every store keeps the promises that stand in `BlobStore`, on a real server.
enum ContractTests {
  @Suite(ServerTrait<SeaweedServer>())
  struct SeaweedFS {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      try promise.check(RunningServer.get(SeaweedServer.self).store(), lacks: [.folders])
    }

    @Test(arguments: BlobStoreContract.allCases)
    func keepsByWebDAV(_ promise: BlobStoreContract) throws {
      let store = RetryingStore(try RunningServer.get(SeaweedServer.self).webDAVStore())
      try promise.check(store, lacks: [.folders])
    }

    @Test(arguments: [
      BlobStoreContract.listsOneFolderSorted, .walksBelowAFolderOnly, .keepsOddNames,
    ])
    func keepsPageAfterPage(_ promise: BlobStoreContract) throws {
      let store = try RunningServer.get(SeaweedServer.self).store { $0.pageSize = 2 }
      try promise.check(store, lacks: [.folders])
    }

    @Test func isTrustedWithConditionsOnceItHonouredOne() throws {
      let store = try RunningServer.get(SeaweedServer.self).store()
      #expect(!store.decidesRaces)
      let threads = 8
      try Threads.run(threads) { number in
        do {
          try store.put("prize", [UInt8(number)], .ifAbsent)
        } catch let error as BlobStoreError where error == .alreadyExists(path: "prize") {
          return
        }
      }
      try BlobStoreContract.letsOneOfARaceWin.check(store, lacks: [.folders])
    }

    @Test func refusesAWrongSecretAtOnce() throws {
      let store = try RunningServer.get(SeaweedServer.self).store {
        $0.credentials.secret = "wrong"
      }
      #expect { try store.put("a", [1]) } throws: { error in
        guard case .denied(let path, let reason) = error as? BlobStoreError else { return false }
        return path == "a" && reason.contains("SignatureDoesNotMatch")
      }
    }

    @Test func saysThatTheBucketIsMissing() throws {
      let store = try RunningServer.get(SeaweedServer.self).store { $0.bucket = "no-such-bucket" }
      let missing = BlobStoreError.noSuchStore(name: "bucket no-such-bucket")
      #expect(throws: missing) { try store.list(.root) }
      #expect(throws: missing) { try store.read("a", limit: 9) }
    }
  }

  @Suite(ServerTrait<RcloneS3Server>())
  struct RcloneServeS3 {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // It answers 500 now and then when several write one object.
      let store = RetryingStore(try RunningServer.get(RcloneS3Server.self).store())
      try promise.check(store, lacks: [.folders])
    }
  }

  @Suite(ServerTrait<RcloneWebDAVServer>())
  struct WebDAV {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // It answers 423 for as long as another of many requests to one folder takes.
      let store = RetryingStore(try RunningServer.get(RcloneWebDAVServer.self).store())
      try promise.check(store, lacks: [.folders])
    }

    @Test func removesNoFolder() throws {
      let store = try RunningServer.get(RcloneWebDAVServer.self).store()
      try store.put("folder/blob", [1])
      #expect(throws: BlobStoreError.notABlob(path: "folder")) { try store.remove("folder") }
      #expect(try store.read("folder/blob", limit: 9) == [1])
    }

    @Test func refusesAWrongPassword() throws {
      let store = try RunningServer.get(RcloneWebDAVServer.self).store(
        credentials: RemoteCredentials(user: "anna", secret: "wrong"))
      let reason = "it does not take the user name or the password"
      #expect(throws: BlobStoreError.denied(path: "a", reason: reason)) {
        try store.read("a", limit: 9)
      }
    }
  }

  @Suite(ServerTrait<NginxServer>())
  struct Nginx {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // It answers 500 when two move to one place, and leaves names that begin with a dot out of every listing.
      let store = RetryingStore(try RunningServer.get(NginxServer.self).store())
      try promise.check(
        store, lacks: [.folders, .name("..."), .name("..a"), .name(".hidden")])
    }
  }

  @Suite(ServerTrait<ApacheServer>())
  struct Apache {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // It breaks off connections while it is busy.
      let store = RetryingStore(try RunningServer.get(ApacheServer.self).store())
      try promise.check(store, lacks: [.folders, .tidiness])
    }
  }

  @Suite(ServerTrait<LighttpdServer>())
  struct Lighttpd {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // Of two moves to one place it refuses one for the moment.
      let store = RetryingStore(try RunningServer.get(LighttpdServer.self).store())
      try promise.check(store, lacks: [.folders])
    }
  }

  @Suite(ServerTrait<WsgiDAVServer>())
  struct WsgiDAV {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      // It decodes where a blob shall be moved to before it looks for the query in it.
      // Of two moves to one place it refuses one for the moment.
      let store = RetryingStore(try RunningServer.get(WsgiDAVServer.self).store())
      try promise.check(store, lacks: [.folders, .name("a?b"), .name("a;b")])
    }
  }

  @Suite(ServerTrait<SabreServer>())
  struct Sabre {
    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      try promise.check(RunningServer.get(SabreServer.self).store(), lacks: [.folders])
    }
  }

  @Suite struct Rclone {
    /// Rclone on a folder, with no configuration.
    private func with(_ body: (RcloneStore) throws -> Void) throws {
      let folder = try TemporaryFolder()
      try DirectoryStore(opening: folder.path).put("data/.keep", [])
      try DirectoryStore(opening: folder.path).remove("data/.keep")
      let store = try RcloneStore.start(
        ":local:\(folder.appending("data").string)", program: try ServerPrograms.path("rclone"),
        environment: ServerPrograms.environment(home: folder.path))
      try body(store)
    }

    @Test(arguments: BlobStoreContract.allCases)
    func keeps(_ promise: BlobStoreContract) throws {
      try with { try promise.check($0, lacks: [.folders]) }
    }

    @Test func saysThatTheProgramIsMissing() throws {
      #expect(throws: BlobStoreError.self) {
        try RcloneStore.start("x:", program: "/no/such/rclone", environment: ["HOME": "/"])
      }
    }

    @Test func saysThatTheRemoteIsUnknown() throws {
      let folder = try TemporaryFolder()
      #expect {
        try RcloneStore.start(
          "nowhere:path", program: try ServerPrograms.path("rclone"),
          environment: ServerPrograms.environment(home: folder.path))
      } throws: { error in
        (error as? BlobStoreError)?.message.contains("nowhere") == true
      }
    }
  }
}
