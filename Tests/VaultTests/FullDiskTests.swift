import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

/// Disks that become full while objects wait for a commit.
@Suite struct FullDiskTests {
  private let memory: MemoryVault
  private let emma: Member

  init() throws {
    memory = try MemoryVault()
    emma = try memory.open().addMember(named: #require(FileName("Emma")))
  }

  /// A disk that is full says so to whoever writes a file, and not to the commit of those that it took.
  @Test(arguments: [100_000, 1_000_000])
  func aFullDiskHasRoomForTheCommitOfWhatItTook(size: Int) throws {
    let store = memory.store
    let used = store.space().totalBytes - store.space().availableBytes
    store.limit(toBytes: used + 19_000_000)
    #expect(try fill(withFilesOf: size).count * size > 10_000_000)
  }

  /// The same where bytes are left, and no inodes.
  @Test func aDiskWithoutInodesHasRoomForTheCommitOfWhatItTook() throws {
    memory.store.limit(toFiles: memory.store.blobs.count + 1000)
    #expect(try fill(withFilesOf: 70_000).count > 200)
  }

  /// Puts files into records until there is no room, and commits those that were taken.
  private func fill(withFilesOf size: Int) throws -> [RecordEdit] {
    var taken: [RecordEdit] = []
    let full = #expect(throws: VaultError.self) {
      for number in 0..<4000 {
        let content = [UInt8](repeating: 0, count: size) + Array("\(number)".utf8)
        var edit = RecordEdit.newRecord("Record \(number)", note: "a note")
        edit.items[try #require(FileName("scan"))] = try .file("scan", content, in: emma)
        taken.append(edit)
      }
    }
    guard case .noSpace = full else {
      Issue.record("\(String(describing: full))")
      return []
    }
    let commit = try emma.commit(taken)
    #expect(commit.firstFailure == nil)
    let fresh = try #require(memory.open().members.first)
    for number in taken.indices {
      #expect(fresh.record(titled: "Record \(number)") != nil)
    }
    return taken
  }
}
