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
