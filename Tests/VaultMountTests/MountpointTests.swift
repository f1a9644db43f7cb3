import Glibc
import SystemPackage
import Testing

@testable import VaultMount

@Suite struct MountpointTests {
  private let temporary = TemporaryFolder()
  private let vault: FilePath

  init() { vault = temporary.folder("vault") }

  @Test func makesAMissingDirectoryThatNobodyCanWriteToAndRemovesIt() throws {
    let path = temporary.path.appending("mnt")
    let point = try Mountpoint.prepare(path, vault: vault)
    #expect(point.isOurs)
    #expect(point.protect(descriptor: try descriptor(of: point)))
    #expect(permissions(path) == 0)
    point.cleanUp()
    #expect(permissions(path) == nil)
  }

  @Test func keepsADirectoryThatWasThereButTakesItsWriteBits() throws {
    let path = temporary.folder("mnt", mode: 0o755)
    let point = try Mountpoint.prepare(path, vault: vault)
    #expect(!point.isOurs)
    #expect(point.protect(descriptor: try descriptor(of: point)))
    point.cleanUp()
    #expect(permissions(path) == 0o555)
  }

  @Test func removesWhatAKilledProcessLeft() throws {
    let path = temporary.folder("mnt", mode: 0)
    let point = try Mountpoint.prepare(path, vault: vault)
    #expect(point.isOurs)
    point.cleanUp()
    #expect(permissions(path) == nil)
  }

  @Test func keepsOurDirectoryWhenSomebodyFilledIt() throws {
    let point = try Mountpoint.prepare(temporary.path.appending("mnt"), vault: vault)
    _ = temporary.file("mnt/note")
    point.cleanUp()
    #expect(permissions(point.path.appending("note")) != nil)
  }

  @Test func saysWhichFolderIsMissing() throws {
    let missing = temporary.path.appending("missing")
    #expect {
      try Mountpoint.prepare(missing.appending("mnt"), vault: vault)
    } throws: { error in
      (error as? MountError)?.message.hasSuffix("mkdir -p \(missing)") == true
    }
  }

  @Test func refusesADirectoryThatIsNotEmpty() throws {
    let path = temporary.folder("mnt")
    _ = temporary.file("mnt/note")
    #expect(throws: MountError.notEmpty(path)) { try Mountpoint.prepare(path, vault: vault) }
    #expect(permissions(path) == 0o755)
  }

  @Test func refusesAFile() throws {
    let path = temporary.file("note")
    #expect(throws: MountError.notADirectory(path)) { try Mountpoint.prepare(path, vault: vault) }
  }

  @Test(arguments: ["vault", "vault/inside", ".", "link/inside"])
  func refusesToLieInsideTheVaultOrAroundIt(_ name: String) throws {
    #expect(symlink(vault.string, temporary.path.appending("link").string) == 0)
    let path = temporary.path.appending(name)
    let error = #expect(throws: MountError.self) { try Mountpoint.prepare(path, vault: vault) }
    guard case .overlapsVault = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(permissions(vault.appending("inside")) == nil)
  }

  @Test func aSiblingWithTheVaultsNameInItsOwnIsNotInside() throws {
    let point = try Mountpoint.prepare(temporary.path.appending("vault-mounted"), vault: vault)
    point.cleanUp()
  }

  @Test func refusesAPathWithoutAParent() throws {
    let path = temporary.path.appending("missing").appending("mnt")
    #expect(throws: MountError.self) { try Mountpoint.prepare(path, vault: vault) }
  }

  private func descriptor(of point: Mountpoint) throws -> Int32 {
    let descriptor = try point.openDescriptor()
    return descriptor
  }
}
