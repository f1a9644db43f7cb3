import BlobStore
import TestSupport
import Testing
import VaultModel

@testable import Vault
@testable import VaultSync

/// Folders that a plain copier carries file by file, in an order of its own.
@Suite struct CopiedFilesTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family()
    // The first device has not heard of the second one.
    try family[0].sync(usb)
    try family[1].sync(usb)
    try family[1].write("Visit", "from the new device")
  }

  private func copy(_ isWanted: (String) -> Bool) throws {
    for (path, bytes) in family[1].store.blobs where isWanted(path.string) {
      if family[0].store.blobs[path] == nil {
        try family[0].store.replace(path, bytes, durably: true)
      }
    }
  }

  @Test func aHeadThatCameBeforeItsCertificateCountsWhenThatComes() throws {
    try copy { $0.hasPrefix("members/") }
    #expect(try family[0].emma.refresh().isEmpty)
    #expect(try family[0].emma.refresh().isEmpty)
    try copy { $0.hasPrefix("people/") }
    #expect(try !family[0].emma.refresh().isEmpty)
    #expect(try family[0].contents() == family[1].contents())
  }

  @Test func aHeadThatDoesNotHoldIsReadOnce() throws {
    try copy { $0.hasPrefix("members/") }
    _ = try family[0].emma.refresh()
    let recording = RecordingStore(family[0].store)
    let vault = try family[0].open(on: recording)
    let emma = try #require(vault.members.first)
    _ = try emma.refresh()
    recording.forgetCalls()
    _ = try emma.refresh()
    #expect(recording.calls(.read).isEmpty)
  }
}
