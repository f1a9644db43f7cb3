import BlobStore
import Glibc
import Testing
import VaultModel
import VaultObjects

import struct SystemPackage.FilePath

@testable import Vault
@testable import VaultFiles

/// Objects that one device means to remove and another one needs again, in folders that programs copy.
@Suite struct AnnouncedObjectsTests {
  private static let scan = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

  /// What the other device has of the announcement when it needs the scan again.
  enum Announcement: CaseIterable {
    case whole, missing, cut
  }

  /// The other device has seen the announcement and attaches the same scan again, while the deletion is still under way to
  /// its folder: a copier that carries it deletes the file only if it is the one that was deleted elsewhere.
  @Test(arguments: Announcement.allCases)
  func whatIsNeededAgainIsAnotherFile(announcement: Announcement) throws {
    let devices = try ApartDevices { tree in
      try tree.mkdir("Emma")
      try tree.write("Emma/scan.pdf", Self.scan)
    }
    try devices.there.write("Emma/there", "this device writes too")
    try devices.meet()
    try devices.here.tree.unlink("Emma/scan.pdf")
    try devices.here.tree.commitNow()
    let report = try devices.here.vault.collect(keepDays: 0, isDryRun: false)
    #expect(report.waitingMembers == ["Emma"])
    try devices.meet()

    try change(announcement, in: devices.vaultThere)

    let before = try files(of: devices.vaultThere)
    try devices.there.write("Emma/again.pdf", Self.scan)
    try devices.there.commitNow()
    let after = try files(of: devices.vaultThere)
    let member = try #require(devices.vaultThere.members.first)
    let named = try named(in: member)
    #expect(!named.isEmpty && named.allSatisfy { after[$0] != nil })
    let untouched = named.filter { before[$0] != nil && before[$0] == after[$0] }
    #expect(untouched.isEmpty, "\(untouched.count) of \(named.count) are the files that go")

    // The deletion: what was deleted here goes there, where it is the same file as before.
    for _ in 0..<2 {
      _ = try devices.here.vault.collect(keepDays: 0, isDryRun: false)
    }
    #expect(try devices.there.read("Emma/again.pdf") == Self.scan)
    try devices.meet()
    #expect(try devices.here.tree.read("Emma/again.pdf") == Self.scan)
  }

  /// A program that copies files has not brought the announcement yet, or only a part of it.
  private func change(_ announcement: Announcement, in vault: Vault) throws {
    let member = try #require(vault.members.first)
    let digest = try #require(member.openedHeads.compactMap(\.head.announcement).first)
    let path = try #require(vault.folder).appending(member.objects.vaultPath(of: digest).string)
    switch announcement {
    case .whole: break
    case .missing: #expect(unlink(path.string) == 0)
    case .cut: #expect(truncate(path.string, 100) == 0)
    }
  }

  /// The names of the scan's chunks.
  private func named(in member: Member) throws -> [String] {
    let folder = try #require(member.allEntries().first { $0.record == .root })
    let items = try member.items(of: member.revision(folder.revision))
    let item = try #require(items.first { $0.name.string == "again.pdf" })
    return try member.chunks(of: item.content).compactMap { chunk in
      chunk.map { member.objects.name(of: $0).hex }
    }
  }

  /// Inode and time of change of every file of the vault, by its name.
  private func files(of vault: Vault) throws -> [String: [Int]] {
    let store = try DirectoryStore(opening: #require(vault.folder))
    var found: [String: [Int]] = [:]
    try store.walk(under: "members", depth: 8, limit: 100_000) { path, entry in
      guard let path, entry.kind == .blob, let folder = vault.folder else { return .goOn }
      var status = stat()
      if lstat(folder.appending(path.string).string, &status) == 0 {
        let name = path.string.split(separator: "/").suffix(2).joined()
        found[name] = [Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
      }
      return .goOn
    }
    return found
  }
}
