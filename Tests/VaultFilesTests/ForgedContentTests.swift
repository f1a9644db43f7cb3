import Testing
import VaultCrypto
import VaultModel
import VaultObjects

import struct SystemPackage.FileDescriptor

@testable import Vault
@testable import VaultFiles

/// What programs see of a file in whose place somebody with the keys has put another: not that other one.
@Suite struct ForgedContentTests {
  @Test(arguments: [100, 10_000, 3 << 20]) func isAnInputOutputError(byteCount: Int) throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    let bytes = ContentTests.pattern(byteCount)
    try mounted.tree.write("Emma/scan", bytes)
    try mounted.tree.write("Emma/other", [1, 2, 3])
    try mounted.tree.commitNow()
    let member = mounted.vault.members[0]
    let root = try #require(member.entry(.root))
    let items = try member.items(of: member.revision(root.revision))
    let scan = try #require(items.first { $0.name.string == "scan" })
    let chunk = try #require(try member.chunks(of: scan.content).last ?? nil)
    var forged = try member.objects.content(chunk, kind: .chunk)
    forged[forged.count / 2] ^= 1
    let name = member.objects.name(of: chunk)
    let file = member.register.keys.current.seal(name: name, kind: .chunk, content: forged)
    let path = mounted.folder.appending(member.objects.vaultPath(of: name).string)
    let descriptor = try FileDescriptor.open(path, .readWrite)
    _ = try descriptor.writeAll(toAbsoluteOffset: 0, file)
    try descriptor.close()
    try mounted.remount()
    let start = (byteCount - 1) / ContentTests.mebibyte * ContentTests.mebibyte
    let handle = try mounted.tree.open("Emma/scan", .read)
    defer { handle.release() }
    for (offset, count) in [(start, 1), (byteCount - 1, 1), (start, byteCount - start)] {
      #expect(throws: FileError.inputOutput, "\(count) bytes at \(offset)") {
        try handle.get(at: UInt64(offset), count: count)
      }
    }
    if start > 0 { #expect(try handle.get(at: 0, count: start) == Array(bytes[..<start])) }
    #expect(try mounted.tree.read("Emma/other") == [1, 2, 3])
  }
}
