import BlobStore
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault

/// What a commit costs, and in which order it writes: Docs/Format.md, "Write order".
@Suite struct CommitCostTests {
  private let memory: MemoryVault
  private let recording: RecordingStore
  private let vault: Vault
  private let emma: Member

  init() throws {
    memory = try MemoryVault()
    recording = RecordingStore(memory.store)
    vault = try memory.open(on: recording)
    emma = try vault.addMember(named: #require(FileName("Emma")))
  }

  private var head: BlobPath { BlobPath(VaultPath.head(emma.id, vault.device).string) }

  @Test func objectsStandBeforeTheBarrierAndTheHeadAfterIt() throws {
    var edit = RecordEdit.newRecord("A", note: "a")
    edit.items[try #require(FileName("a.bin"))] = try .file("a.bin", [1, 2, 3], in: emma)
    recording.forgetCalls()
    _ = try emma.commit([edit])

    let calls = recording.calls(.create, .put, .replace, .rename, .renameDurably, .barrier)
    let barrier = try #require(calls.firstIndex { $0.kind == .barrier })
    let published = calls.indices.filter { index in
      (calls[index].target ?? calls[index].path).string.contains("/objects/")
    }
    // The chunk, the record, the segment: small, so none was in the staging folder before.
    #expect(published.count == 3)
    #expect(published.allSatisfy { $0 < barrier })
    // The head under another name in its own folder, the barrier, the rename: nothing in between.
    let end = calls[(barrier - 1)...]
    #expect(end.map(\.kind) == [.create, .barrier, .renameDurably])
    let temporary = try #require(end.first).path
    #expect(temporary.parent == head.parent)
    #expect(end[barrier + 1].path == temporary)
    #expect(end[barrier + 1].target == head)
  }

  @Test(arguments: [0, 1, 40])
  func aCommitFlushesTwiceHoweverManyChunksItHas(chunkCount: Int) throws {
    var edit = RecordEdit.newRecord("A", note: "a")
    for number in 0..<chunkCount {
      edit.items[try #require(FileName("\(number)"))] =
        try .file("\(number)", [UInt8(number)], in: emma)
    }
    recording.forgetCalls()
    _ = try emma.commit([edit])
    #expect(recording.calls(.barrier).count == 1)
    #expect(recording.calls.filter(\.isDurable).map(\.kind) == [.renameDurably])
  }

  /// A hundred edits of the note of a record with 50 MiB of attachments.
  @Test func editingANoteWritesNoAttachmentAndLittleElse() throws {
    let chunk = try emma.objects.put(
      .chunk, [UInt8](repeating: 9, count: ObjectLayout.maximumContentSize(of: .chunk)))
    var edit = RecordEdit.newRecord("A", note: "the note")
    for number in 0..<5 {
      let name = try #require(FileName("scan \(number).dcm"))
      let chunks = [ContentDigest?](repeating: chunk, count: 10)
      edit.items[name] = Item(
        name: name, file: .random(), size: 10 << 20, content: try emma.content(of: chunks),
        time: .zero)
    }
    _ = try emma.commit([edit])

    var written = 0
    let editCount = 100
    for number in 1...editCount {
      var change = RecordEdit(record: edit.record)
      change.items[.record] = .note("the note, edited \(number) times")
      let before = Set(memory.store.blobs.keys)
      recording.forgetCalls()
      _ = try emma.commit([change])
      let after = memory.store.blobs
      let new = after.filter { !before.contains($0.key) || $0.key == head }
      written += new.values.reduce(0) { $0 + $1.count }
      for (path, file) in new where path.string.contains("/objects/") {
        let kind = file[5]
        #expect(kind == ObjectKind.record.rawValue || kind == ObjectKind.segment.rawValue)
      }
    }
    #expect(written / editCount <= 2048)
  }
}
