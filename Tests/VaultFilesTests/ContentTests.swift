import Testing
import VaultModel
import VaultObjects

import struct SystemPackage.FileDescriptor

@testable import Vault
@testable import VaultFiles

@Suite struct ContentTests {
  static let mebibyte = 1 << 20

  static func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9 &+ $0 >> 20) }
  }

  @Test(arguments: [0, 1, 4096, 10_240, 1 << 20, (1 << 20) + 1, 5 << 20, (17 << 20) + 3])
  func contentOfAnySizeSurvivesARemount(byteCount: Int) throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    let bytes = Self.pattern(byteCount)
    let handle = try mounted.tree.create("Emma/scan.pdf")
    for start in stride(from: 0, to: byteCount, by: 131_072) {
      try handle.put(Array(bytes[start..<min(byteCount, start + 131_072)]), at: UInt64(start))
    }
    #expect(try handle.get(at: 0, count: byteCount + 1) == bytes)
    try handle.sync()
    handle.release()
    try mounted.remount(committing: false)
    #expect(try mounted.tree.read("Emma/scan.pdf") == bytes)
    #expect(try mounted.tree.stat("Emma/scan.pdf").size == UInt64(byteCount))
  }

  @Test func whatWasSyncedIsThereAfterACrash() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Emma/visit")
    let handle = try tree.create("Emma/visit/a")
    try handle.put([1, 2, 3], at: 0)
    try handle.sync()
    try handle.put([9], at: 0)  // not synced
    let fresh = try tree.create("Emma/visit/never flushed")
    try fresh.put([1], at: 0)
    try tree.syncDirectory(tree.find("Emma/visit"))
    try mounted.remount(committing: false)
    #expect(try mounted.tree.list("Emma/visit") == ["a"])
    #expect(try mounted.tree.read("Emma/visit/a") == [1, 2, 3])
  }

  @Test func aSaveDanceReplacesTheFile() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/record.md", "old")
    try tree.commitNow()
    for round in 0..<3 {
      let handle = try tree.create("Emma/.record.md.tmp")
      try handle.put(Array("new \(round)".utf8), at: 0)
      try handle.sync()
      handle.release()
      try tree.rename("Emma/.record.md.tmp", "Emma/record.md")
    }
    try tree.syncDirectory(tree.find("Emma"))
    try mounted.remount(committing: false)
    #expect(try mounted.tree.list("Emma") == ["record.md"])
    #expect(try mounted.tree.text("Emma/record.md") == "new 2")
  }

  @Test func openFilesLiveOnWhenUnlinkedOrReplaced() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.write("Emma/a", "first")
    try tree.write("Emma/b", "second")
    let a = try tree.open("Emma/a")
    let b = try tree.open("Emma/b")
    try tree.unlink("Emma/a")
    try tree.write("Emma/c", "third")
    try tree.rename("Emma/c", "Emma/b")
    #expect(try a.attributes().linkCount == 0)
    #expect(try b.attributes().linkCount == 0)
    #expect(try a.get(at: 0, count: 9) == Array("first".utf8))
    #expect(try b.get(at: 0, count: 9) == Array("second".utf8))
    try a.put(Array("FIRST!".utf8), at: 0)
    _ = try tree.setAttributes(
      a.inode, AttributeChange(mode: 0o600, size: 3), through: a)
    try a.sync()
    #expect(try a.get(at: 0, count: 9) == Array("FIR".utf8))
    #expect(try a.attributes().mode == FileMode.regular | 0o600)
    a.release()
    b.release()
    try tree.commitNow()
    #expect(try tree.list("Emma") == ["b"])
    #expect(try tree.text("Emma/b") == "third")
  }

  @Test func appendsGoToTheEnd() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    let one = try tree.create("Emma/log", [.write])
    let two = try tree.open("Emma/log", [.write])
    for number in 0..<10 {
      try (number.isMultiple(of: 2) ? one : two).put([UInt8(number)], at: 0, as: .atEnd)
    }
    one.release()
    two.release()
    #expect(try tree.read("Emma/log") == (0..<10).map { UInt8($0) })
  }

  @Test func sparseFilesHaveHoles() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    let handle = try tree.create("Emma/sparse")
    try handle.put([7], at: 5 << 20)
    try handle.allocate(.allocate(keepsSize: false), at: 0, length: 8 << 20)
    try handle.flush()
    #expect(try handle.attributes().size == 8 << 20)
    #expect(try handle.attributes().blockCount == 2048)
    #expect(try handle.seek(.data, from: 0) == 5 << 20)
    #expect(try handle.seek(.hole, from: 5 << 20) == 6 << 20)
    #expect(throws: FileError.noSuchRegion) { try handle.seek(.data, from: 6 << 20) }
    // From now on a program may have changed any part of it in a mapping.
    handle.noteCached()
    #expect(try handle.seek(.data, from: 1) == 1)
    #expect(try handle.seek(.hole, from: 1) == 8 << 20)
    #expect(throws: FileError.noSuchRegion) { try handle.seek(.data, from: 8 << 20) }
    try handle.allocate(.punchHole, at: 5 << 20, length: 4096)
    #expect(try handle.get(at: 5 << 20, count: 2) == [0, 0])
    #expect(try handle.attributes().size == 8 << 20)
    handle.release()
    try mounted.remount()
    #expect(try mounted.tree.stat("Emma/sparse").size == 8 << 20)
  }

  @Test func copyingSharesChunks() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    try tree.mkdir("Liam")
    let bytes = Self.pattern(3 << 20 | 77)
    let source = try tree.create("Emma/source")
    try source.put(bytes, at: 0)
    let target = try tree.create("Emma/target")
    let copied = try source.copyRange(at: 0, to: target, at: 0, length: UInt64(bytes.count) + 5)
    #expect(copied == UInt64(bytes.count))
    #expect(try target.get(at: 0, count: bytes.count + 1) == bytes)
    try source.put([1], at: 0)
    try source.sync()
    #expect(try target.get(at: 0, count: 1) == [bytes[0]])
    #expect(try source.copyRange(at: 1, to: target, at: 0, length: 5) == nil)
    let other = try tree.create("Liam/target")
    #expect(try source.copyRange(at: 0, to: other, at: 0, length: 1 << 20) == nil)
    for handle in [source, target, other] { handle.release() }
    try mounted.remount()
    #expect(try mounted.tree.read("Emma/target") == bytes)
  }

  /// Linux is told in 32 bits how much was copied.
  @Test func aVeryLargeCopyIsDoneInParts() throws {
    let mounted = try MountedVault()
    let tree = mounted.tree
    try tree.mkdir("Emma")
    let (source, target) = (try tree.create("Emma/source"), try tree.create("Emma/target"))
    let size: UInt64 = 5 << 30
    try source.put([7], at: size - 1)
    let first = try source.copyRange(at: 0, to: target, at: 0, length: size)
    #expect(first == 1 << 30)
    let last = try source.copyRange(at: 4 << 30, to: target, at: 4 << 30, length: 1 << 30)
    #expect(last == 1 << 30)
    #expect(try target.attributes().size == size)
    #expect(try target.get(at: size - 2, count: 3) == [0, 7])
    for handle in [source, target] { handle.release() }
  }

  @Test func unsealedContentIsBounded() throws {
    let mounted = try MountedVault { $0.dirtyByteLimit = 4 << 20 }
    let tree = mounted.tree
    try tree.mkdir("Emma")
    let handle = try tree.create("Emma/big")
    for number in 0..<24 { try handle.put([UInt8(number)], at: UInt64(number) << 20 | 5) }
    let pages = 24 << 20
    #expect(tree.resources.pool.byteCount < pages)
    for number in 0..<24 {
      #expect(try handle.get(at: UInt64(number) << 20 | 5, count: 1) == [UInt8(number)])
    }
    handle.release()
  }

  @Test func damageIsConfinedToItsChunk() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    let bytes = Self.pattern(3 << 20)
    try mounted.tree.write("Emma/scan", bytes)
    try mounted.tree.commitNow()
    let member = mounted.vault.members[0]
    let root = try #require(member.entry(.root))
    let item = try #require(try member.items(of: member.revision(root.revision)).first)
    guard case .chunks(let chunks) = item.content, let chunk = chunks[1] else {
      Issue.record("three chunks were expected")
      return
    }
    let path = mounted.folder.appending(member.objects.vaultPath(of: chunk).string)
    let descriptor = try FileDescriptor.open(path, .readWrite)
    _ = try descriptor.writeAll(toAbsoluteOffset: 1000, [0, 1, 2, 3, 4, 5, 6, 7])
    try descriptor.close()
    try mounted.remount()
    let handle = try mounted.tree.open("Emma/scan", .read)
    defer { handle.release() }
    #expect(try handle.get(at: 0, count: 1 << 20) == Array(bytes[..<(1 << 20)]))
    #expect(throws: FileError.inputOutput) { try handle.get(at: 1 << 20, count: 100) }
    #expect(
      try handle.get(at: 1 << 20 | 65_536, count: 4096)
        == Array(bytes[(1 << 20 | 65_536)...].prefix(4096)))
    #expect(try handle.get(at: 2 << 20, count: 1 << 20) == Array(bytes[(2 << 20)...]))
  }
}
