import Glibc
import Testing
import VaultCrypto
import VaultModel
import VaultPlain

@testable import Vault

/// What leaves the vault as plain files.
struct PlainExportTests {
  /// Whoever may write a record may set these bits, and the one who exports may be root.
  @Test func nothingIsMadeThatRunsAsSomebodyElse() throws {
    let vault = try MemoryVault().open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    var edit = RecordEdit.newRecord("Visit", note: "all well")
    edit.attributes = RecordAttributes(mode: 0o3775)
    var tool = try Item.file("tool", Array("#!/bin/sh".utf8), in: emma)
    tool.mode = 0o106755
    var pipe = Item(name: try #require(FileName("pipe")), file: .random(), size: 0, time: .zero)
    pipe.mode = S_IFIFO | 0o4600
    for item in [tool, pipe] { edit.items[item.name] = item }
    let commit = try emma.commit([edit])
    try #require(commit.failures.isEmpty)

    let folder = "/tmp/kinvault-export-\(UInt64.random(in: 0 ... .max))"
    defer { for name in ["/record.md", "/tool", "/pipe"] { unlink(folder + name) }; rmdir(folder) }
    var export = PlainExport(of: emma)
    let report = try export.run(edit.record, to: Array(folder.utf8))
    #expect(report.failures.isEmpty)
    #expect(report.unprivilegedCount == 3)
    for (name, mode) in [("", 0o775), ("/tool", 0o755), ("/pipe", 0o600)] as [(String, mode_t)] {
      var status = stat()
      try #require(lstat(folder + name, &status) == 0)
      #expect(status.st_mode & 0o7777 == mode, "\(name)")
    }
  }

  /// As with what a file system cannot have: FAT has no two names that differ by their case alone.
  @Test func whatCannotBeWrittenThereIsLeftOutAndNamed() throws {
    let vault = try MemoryVault().open()
    let emma = try vault.addMember(named: #require(FileName("Emma")))
    var edit = RecordEdit.newRecord("Visit", note: "all well")
    for name in ["scan", "Scan", "zebra"] {
      let item = try Item.file(name, Array(name.utf8), in: emma)
      edit.items[item.name] = item
    }
    try #require(try emma.commit([edit]).failures.isEmpty)
    let folder = "/tmp/kinvault-export-\(UInt64.random(in: 0 ... .max))"
    let names = ["record.md", "scan", "Scan", "zebra"]
    defer { for name in names { unlink("\(folder)/\(name)") }; rmdir(folder) }
    // Told of what has been written before it.
    var export = PlainExport(
      of: emma,
      progress: { _ in
        close(open("\(folder)/scan", O_WRONLY | O_CREAT, 0o600))
      })
    let report = try export.run(edit.record, to: Array(folder.utf8))
    #expect(report.failures.map(\.path) == ["\(folder)/scan"])
    guard case .alreadyExists? = report.failures.first?.error else {
      Issue.record("\(report.failures)")
      return
    }
    #expect(report.fileCount == 3)
    for (name, size) in [("scan", 0), ("Scan", 4), ("zebra", 5)] as [(String, off_t)] {
      var status = stat()
      try #require(lstat("\(folder)/\(name)", &status) == 0)
      #expect(status.st_size == size, "\(name)")
    }
  }

  /// The first chunk has been written when the second one is found to be gone.
  @Test func halfOfAFileCountsForNothing() throws {
    let (memory, _, emma) = try MemoryVault.withEmma()
    var edit = RecordEdit.newRecord("Visit", note: "all well")
    var chunks: [ContentDigest] = []
    for byte in [1, 2] as [UInt8] {
      chunks.append(try emma.objects.put(.chunk, [UInt8](repeating: byte, count: 1 << 20)))
    }
    var scan = Item(
      name: try #require(FileName("scan")), file: .random(), size: 2 << 20,
      content: .chunks(chunks), time: .zero)
    scan.mode = S_IFREG | 0o4600
    edit.items[scan.name] = scan
    try #require(try emma.commit([edit]).failures.isEmpty)
    try memory.store.remove(emma.objects.path(of: chunks[1]))
    let folder = "/tmp/kinvault-export-\(UInt64.random(in: 0 ... .max))"
    defer { for name in ["record.md", "scan"] { unlink("\(folder)/\(name)") }; rmdir(folder) }
    var export = PlainExport(of: emma)
    let report = try export.run(edit.record, to: Array(folder.utf8))
    #expect(report.failures.map(\.path) == ["\(folder)/scan"])
    #expect(report.fileCount == 1 && report.byteCount < 1 << 20)
    #expect(report.unprivilegedCount == 0)
    #expect(access("\(folder)/scan", F_OK) != 0)
  }
}
