import BlobStore
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import VaultSync

/// Somebody with keys has put more into a folder than a look lists, and everybody has carried it: so it is here as well, and on
/// every remote. It keeps nothing from being synced.
@Suite struct CrowdedFolderTests {
  private let family: Family
  private let usb = MemoryStore()

  init() throws {
    family = try Family(count: 2)
    try family.meet(at: usb)
  }

  /// Files in a folder of the vault that is on both machines and on the remote.
  private func crowd(_ path: (Int) -> VaultPath) throws {
    for number in 0...RemoteLook.nameLimit {
      let path = BlobPath(path(number).string)
      for store in [family[0].store, family[1].store, usb] {
        try store.replace(path, [1], durably: false)
      }
    }
  }

  private func expectToMeet() throws {
    try family[0].write("Visit", "while it is crowded")
    let report = try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(!report.problems.contains { $0.kind == .endlessListing })
    try family[1].sync(usb)
    #expect(try family[1].contents().values.contains("while it is crowded"))
  }

  @Test func logsOfAnyNumberOfSegmentsKeepNothingBack() throws {
    let device = DeviceID.random()
    try crowd { .auditSegment(device, first: UInt64($0) + 1) }
    try expectToMeet()
  }

  @Test func wrapsOfAnyNumberKeepNothingBack() throws {
    let emma = try family[0].emma.id
    try crowd { _ in .epochWrap(emma, .random()) }
    try expectToMeet()
  }

  /// Whoever has certified devices that are removed by now puts files of theirs there, which are told as notes.
  @Test func notesLeaveWarningsTheirRoom() throws {
    let session = SyncSession(
      home: SyncHome(family[0].vault, vouching: nil), side: RemoteSide(store: usb),
      memory: RemoteMemory(), order: SyncOrder(options: SyncOptions(), progress: { _ in }))
    for number in 0..<1_000 {
      session.note(SyncProblem(.untrusted, .note, path: "people/\(number)", "of a removed device"))
    }
    let warning = SyncProblem(.untrusted, .warning, path: "people/x", "written after its removal")
    session.note(warning)
    #expect(session.report.problems.first == warning)
    #expect(session.report.problems.count < 100)
  }
}
