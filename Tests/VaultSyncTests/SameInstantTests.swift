import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Devices that do not know of each other write at the same instant: a time alone does not tell who wrote what.
@Suite struct SameInstantTests {
  /// Of texts only which one wins is certain, so every order in which they come to the third device is tried.
  @Test(arguments: [
    ["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"], ["b", "c", "a"], ["c", "a", "b"],
    ["c", "b", "a"],
  ])
  func ofThreeTextsTwoAreKeptAsConflicts(texts: [String]) throws {
    let family = try Family(count: 3)
    let remote = MemoryStore()
    let record = try family[0].write("Note", "before")
    try family.meet(at: remote)
    for (device, text) in zip(family.devices, texts) {
      device.clock.set(to: 1_800_000_000_000)
      try device.edit(record, text)
    }
    let times = try family.devices.map { device in
      try device.emma.items(of: device.emma.revision(#require(device.emma.entry(record)).revision))[
        0
      ].time
    }
    #expect(Set(times).count == 1)
    for _ in 0..<2 { for number in [0, 1, 0] { try family[number].sync(remote) } }
    try family.meet(at: remote)
    for device in family.devices {
      #expect(Set(texts).isSubset(of: try device.contents().values))
    }
  }

  /// Somebody puts a file of their own into a copy, under the name of another file that was written at that instant and loses
  /// later: that one is kept beside. (Simulated schedule 1020567: it was gone.)
  @Test(arguments: [false, true])
  func whatLosesLaterIsKeptThoughItsNameInTheCopyIsTaken(elsewhere: Bool) throws {
    let family = try Family(count: 2)
    let (desk, laptop, remote) = (family[0], family[1], MemoryStore())
    let record = try desk.write("Note", "before")
    try family.meet(at: remote)
    desk.clock.set(to: 1_800_000_000_000)
    try put(["a": "a of the desk", "b": "b of the desk"], into: record, on: desk)
    laptop.clock.set(to: 1_800_000_001_000)
    try put(["b": "b of the laptop"], into: record, on: laptop)
    try laptop.sync(remote)
    try join(on: desk, from: remote)
    if elsewhere { try desk.sync(remote) }
    let copy = try #require(desk.emma.keptConflicts().first).copy.record
    try put(["a": "put into the copy"], into: copy, on: desk)
    try put(["a": "a of the laptop"], into: record, on: laptop)
    try laptop.sync(remote)
    try join(on: desk, from: remote)
    try family.meet(at: remote)
    for device in family.devices {
      let all = [
        "a of the desk", "b of the desk", "a of the laptop", "b of the laptop", "put into the copy",
      ]
      let lost = Set(all).subtracting(try device.contents().values)
      #expect(lost.isEmpty)
    }
    try family.expectAgreement()
  }

  private func put(
    _ files: [String: String], into record: RecordID, on device: Family.Device
  ) throws {
    var edit = RecordEdit(record: record)
    for (name, text) in files {
      let name = try #require(FileName(name))
      edit.items[name] = Item(
        name: name, file: .random(), size: UInt64(text.utf8.count),
        content: try device.emma.content(of: [device.emma.objects.put(.chunk, Array(text.utf8))]),
        time: .zero)
    }
    try device.commit(edit)
  }

  /// Takes what is there, and joins it; nobody sees that yet.
  private func join(on device: Family.Device, from remote: MemoryStore) throws {
    try device.sync(remote) { $0.direction = .pull }
    _ = try device.emma.joinConcurrent()
  }

  @Test func ofThreeTitlesTwoAreKeptAsConflicts() throws {
    for titles in [["A", "B", "C"], ["A", "C", "B"], ["C", "B", "A"], ["C", "A", "B"]] {
      let family = try Family(count: 3)
      let remote = MemoryStore()
      let record = try family[0].write("Note", "before")
      try family.meet(at: remote)
      for (device, title) in zip(family.devices, titles) {
        device.clock.set(to: 1_800_000_000_000)
        var edit = RecordEdit(record: record)
        edit.place = RecordPlace(parent: .root, title: try #require(FileName(title)))
        try device.commit(edit)
      }
      for _ in 0..<2 { for number in [0, 1, 0] { try family[number].sync(remote) } }
      try family.meet(at: remote)
      for device in family.devices {
        let paths = try device.contents().keys
        for title in titles {
          #expect(paths.contains { $0.contains("/\(title)") }, "\(titles): \(title) is lost")
        }
      }
    }
  }
}
