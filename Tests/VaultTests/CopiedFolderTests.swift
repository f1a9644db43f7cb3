import MachineState
import SystemPackage
import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import Vault

/// A vault's folder is copied after a process has died that had synced what no commit has.
@Suite struct CopiedFolderTests {
  private let root: TemporaryFolder
  private let created: CreatedVault
  private var folder: FilePath { root.appending("Family") }
  private var copy: FilePath { root.appending("Copy") }

  init() throws {
    root = try TemporaryFolder()
    let made = try VaultCopy.make(
      in: root.appending("Family"), stateRoot: root.appending("state"))
    created = try Vault.create(
      made, device: MemoryVault.newDevice,
      password: SecretBytes(copying: Array(MemoryVault.password.utf8)))
    let vault = try Vault.open(made, key: created.unlockKey)
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    _ = try emma.commit([.newRecord("Visits", note: "none")])
    var edit = RecordEdit(record: try #require(emma.record(titled: "Visits")).record)
    edit.items[.record] = .note("seen")
    try #require(try emma.log([edit]))
    // What is in no commit stays, as after a kill.
    try vault.close()
    try shell("cp -a \"$1\" \"$2\"")
  }

  /// - Parameter command: `$1` is the vault's folder, `$2` the copy.
  private func shell(_ command: String) throws {
    let result = try CommandRunner.run("sh", ["-c", command, "copy", folder.string, copy.string])
    try #require(result.status == 0, "\(result.errors)")
  }

  private func opened(_ folder: FilePath) throws -> Vault {
    try Vault.open(
      VaultCopy.find(in: folder, stateRoot: root.appending("state")), key: created.unlockKey)
  }

  private func note(in vault: Vault) throws -> String? {
    let emma = try #require(vault.members.first)
    let visits = try #require(emma.record(titled: "Visits"))
    return try emma.bytes(of: "record.md", in: visits.record).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// It is told what that is, and where the other folder stood.
  @Test func besideTheFolderItTakesNothing() throws {
    let beside = try opened(copy)
    #expect(try note(in: beside) == "none")
    let told = beside.problems.filter { $0.kind == .unfinished }.map(\.reason)
    #expect(told.count == 1, "\(told)")
    #expect(told.allSatisfy { $0.contains("“Visits/record.md”") && $0.contains(folder.string) })
    try beside.close()
    let original = try opened(folder)
    #expect(try note(in: original) == "seen")
    #expect(original.problems.filter { $0.kind == .unfinished } == [])
    try original.close()
  }

  @Test func inThePlaceOfTheFolderItHasWhatWasSynced() throws {
    try shell("rm -r \"$1\" && mv \"$2\" \"$1\"")
    for _ in 0..<2 {
      let vault = try opened(folder)
      #expect(try note(in: vault) == "seen")
      #expect(vault.problems.filter { $0.kind == .unfinished } == [])
      try vault.close()
    }
  }

  /// Others may have changed it since, and made anew it would count as later than that.
  @Test func inThePlaceOfTheFolderItTakesNothingThatWasCommitted() throws {
    let home = try VaultCopy.find(in: folder, stateRoot: root.appending("state"))
    let redo = try #require(home.state.path).appending(RedoFolder.parent.string).string
    func run(_ command: String) throws {
      let result = try CommandRunner.run("sh", ["-c", command, "redo", redo])
      try #require(result.status == 0, "\(result.errors)")
    }
    try run("cp -a \"$1\" \"$1-before\"")
    let original = try opened(folder)
    #expect(try note(in: original) == "seen")
    try original.close()
    // The process dies once more before it has removed the file.
    try run("rm -rf \"$1\" && mv \"$1-before\" \"$1\"")
    try shell("rm -r \"$1\" && mv \"$2\" \"$1\"")
    let older = try Vault.open(
      VaultCopy.find(in: folder, stateRoot: root.appending("state")), key: created.unlockKey,
      options: OpenOptions(acceptRollback: true))
    #expect(try note(in: older) == "none")
    let told = older.problems.filter { $0.kind == .unfinished }.map(\.reason)
    #expect(told.count == 1, "\(told)")
    #expect(told.allSatisfy { $0.contains("“Visits/record.md”") })
    _ = try #require(older.members.first).commit([.newRecord("After")])
    try older.close()
    // Nobody else has it, and nothing is lost.
    let again = try opened(folder)
    #expect(try note(in: again) == "seen")
    #expect(again.problems.filter { $0.kind == .unfinished } == [])
    try again.close()
  }
}
