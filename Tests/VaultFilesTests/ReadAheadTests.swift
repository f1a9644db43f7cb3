import BlobStore
import Glibc
import Testing
import Threads
import VaultModel

@testable import Vault
@testable import VaultFiles
@testable import VaultObjects

/// Files of a folder that are opened before they are read.
@Suite struct ReadAheadTests {
  private let mounted: MountedVault
  private let names = (0..<80).map { "slice-\($0 + 100)" }

  init() throws {
    mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/scan")
    for name in names { try tree.write("Emma/scan/\(name)", name) }
    try mounted.remount()
  }

  /// The chunks that are open, as indices of the files.
  private func open() throws -> Set<Int> {
    let members = mounted.vault.members
    let emma = try #require(members.first)
    let children = emma.children(of: .root)
    let record = try #require(children.first)
    var open: Set<Int> = []
    for item in try emma.contents(of: record).0 {
      guard case .chunks(let chunks) = item.content, let chunk = chunks.first ?? nil else {
        continue
      }
      let isOpen = emma.objects.readers.all(of: emma.id).contains { $0.digest == chunk }
      if isOpen, let index = names.firstIndex(where: { FileName($0) == item.name }) {
        open.insert(index)
      }
    }
    return open
  }

  @Test func theNextAreOpenBeforeTheyAreRead() throws {
    for name in names[..<5] { #expect(try mounted.tree.text("Emma/scan/\(name)") == name) }
    for _ in 0..<12_000 {
      if try open().count == 5 + FolderSequence.filesAhead { break }
      usleep(10_000)
    }
    #expect(try open() == Set(0..<5 + FolderSequence.filesAhead))
    for name in names[5...] { #expect(try mounted.tree.text("Emma/scan/\(name)") == name) }
  }

  @Test func oneAloneOpensNothingElse() throws {
    for index in [40, 7, 63] {
      #expect(try mounted.tree.text("Emma/scan/\(names[index])") == names[index])
    }
    usleep(200_000)
    #expect(try open() == [7, 40, 63])
  }

  /// What is damaged shows when it is read, and only there.
  @Test func aMissingOneIsNoHarmToTheOthers() throws {
    let members = mounted.vault.members
    let emma = try #require(members.first)
    let children = emma.children(of: .root)
    let record = try #require(children.first)
    let item = try #require(
      emma.contents(of: record).0.first { $0.name == FileName(names[20]) })
    guard case .chunks(let chunks) = item.content, let chunk = try #require(chunks.first) else {
      Issue.record("the file has no chunk")
      return
    }
    try mounted.vault.context.store.remove(emma.objects.path(of: chunk))
    for (index, name) in names.enumerated() {
      if index == 20 {
        #expect(throws: FileError.inputOutput) { try mounted.tree.text("Emma/scan/\(name)") }
      } else {
        #expect(try mounted.tree.text("Emma/scan/\(name)") == name)
      }
    }
  }
}

/// Folders in a folder that are loaded before they are opened.
@Suite struct FolderAheadTests {
  private let mounted: MountedVault
  private let names = (0..<30).map { "visit-\($0 + 100)" }

  init() throws {
    mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/visits")
    for name in names {
      try tree.mkdir("Emma/visits/\(name)")
      try tree.write("Emma/visits/\(name)/scan.txt", name)
    }
    try mounted.remount()
    // As the kernel knows them after it has listed the folder.
    for name in names { _ = try mounted.tree.find("Emma/visits/\(name)") }
  }

  private func loaded() throws -> Set<Int> {
    let inodes = try names.map { try mounted.tree.find("Emma/visits/\($0)") }
    return mounted.tree.withTree { tree in
      Set(inodes.indices.filter { (tree.nodes[inodes[$0]] as? DirectoryNode)?.files != nil })
    }
  }

  @Test func theNextAreLoadedBeforeTheyAreOpened() throws {
    for name in names[..<5] {
      #expect(try mounted.tree.list("Emma/visits/\(name)") == ["scan.txt"])
    }
    let expected = Set(0..<5 + FolderSequence.foldersAhead)
    for _ in 0..<12_000 {
      if try loaded() == expected { break }
      usleep(10_000)
    }
    #expect(try loaded() == expected)
    for name in names[5...] {
      #expect(try mounted.tree.list("Emma/visits/\(name)") == ["scan.txt"])
    }
  }

  @Test func foldersHereAndThereLoadNothingElse() throws {
    for index in [20, 7, 13, 2] {
      #expect(try mounted.tree.list("Emma/visits/\(names[index])") == ["scan.txt"])
    }
    usleep(200_000)
    #expect(try loaded() == [2, 7, 13, 20])
  }
}
