import BlobStore
import TestSupport
import Testing
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultSync

/// Whoever can write to a machine's folder, without any key, puts a file in the place of another one there, and keeps away
/// from the machine nothing that a remote has.
@Suite struct PlantedFileTests {
  enum Plant: CaseIterable {
    case noise, nothing, tooMuch, flipped, longer, anothers

    func bytes(instead of: [UInt8], or other: [UInt8]) -> [UInt8] {
      switch self {
      case .noise: return [UInt8](repeating: 7, count: 300)
      case .nothing: return []
      case .tooMuch: return [UInt8](repeating: 7, count: 1 << 20 + 1)
      case .flipped:
        var bytes = of
        bytes[bytes.count / 2] ^= 1
        return bytes
      case .longer: return of + [0x1a, 0x01, 0x61]
      case .anothers: return other
      }
    }
  }

  private let usb = MemoryStore()
  private let anna: SyncingAdult
  private let ben: SyncingAdult

  /// Anna has made Emma, and shared her with Ben.
  init() throws {
    (anna, ben) = try SyncingAdult.annaAndBen(at: usb, as: .editor, writing: ["First"])
    for adult in [anna, ben] { try adult.sync(usb) }
    try ben.write("Ben's")
    try ben.sync(usb)
    try anna.sync(usb)
  }

  private func head(of adult: SyncingAdult) throws -> BlobPath {
    BlobPath(VaultPath.head(try #require(anna.emma).id, adult.vault.device).string)
  }

  private func plant(_ plant: Plant, at path: BlobPath) throws {
    let other = try #require(ben.store.blobs[try head(of: ben)])
    try ben.store.replace(
      path, plant.bytes(instead: #require(ben.store.blobs[path]), or: other), durably: true)
  }

  @Test(arguments: Plant.allCases)
  func itKeepsNoNewsOfADeviceAway(_ plant: Plant) throws {
    let path = try head(of: anna)
    try self.plant(plant, at: path)
    try anna.write("Second")
    try anna.sync(usb)
    try ben.sync(usb)
    #expect(try ben.titles == ["First", "Ben's", "Second"])
    #expect(ben.store.blobs[path] == usb.blobs[path])
  }

  /// More of them than are remembered by their names.
  @Test func whatDoesNotHoldIsReadOnce() throws {
    for _ in 0..<8_300 {
      let path = VaultPath.deviceRequest(anna.vault.person, .random())
      try usb.put(BlobPath(path.string), [7])
    }
    for _ in 0..<3 { try ben.sync(usb) }
    for _ in 0..<2 {
      let report = try ben.sync(usb)
      #expect(report.traffic.readCount == 1)
      let told = report.problems.filter { $0.kind == .tooMuchNew }
      #expect(told.count == 1 && told.allSatisfy { $0.text.contains(" 108 files ") })
      #expect(report.problems.count == 51)
    }
    // One more of them has only itself read.
    let path = VaultPath.deviceRequest(anna.vault.person, .random())
    try usb.put(BlobPath(path.string), [7])
    #expect(try ben.sync(usb).traffic.readCount == 2)
  }

  /// A copier has brought a remote the newest head, and not yet the link that it builds on: nobody puts an older one over it.
  @Test func aNewerOneThatWaitsOnTheRemoteStays() throws {
    let (path, disk) = (try head(of: anna), MemoryStore())
    let carla = try SyncingAdult(joining: anna.vault.invite(), as: "Carla")
    try carla.sync(disk, as: "disk")
    try anna.sync(disk, as: "disk")
    let before = Set(usb.blobs.keys)
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .viewer)
    try anna.write("Second")
    try anna.sync(usb)
    let newer = try #require(usb.blobs[path])
    let links = usb.blobs.filter { !before.contains($0.key) && $0.key.string.contains("/links/") }
    #expect(!links.isEmpty)
    for link in links.keys { try usb.remove(link) }
    for _ in 0..<2 {
      try ben.sync(usb)
      #expect(usb.blobs[path] == newer)
    }
    for (link, bytes) in links { try usb.replace(link, bytes, durably: true) }
    try ben.sync(usb)
    #expect(try ben.titles.contains("Second"))
  }

  /// Nothing is news, but the next program that opens the vault would not show what stands there.
  @Test(arguments: Plant.allCases)
  func whatItReplacedIsPutBack(_ plant: Plant) throws {
    let path = try head(of: anna)
    try self.plant(plant, at: path)
    try ben.sync(usb)
    #expect(ben.store.blobs[path] == usb.blobs[path])
    let second = try ben.sync(usb)
    #expect(second.pulled.isEmpty && second.pushed.isEmpty && second.problems.isEmpty)
  }

  /// Of every kind that anybody else has written: statements and registers of people, and of members.
  @Test(arguments: [Plant.noise, .flipped, .longer])
  func noFileOfOthersStaysPlanted(_ plant: Plant) throws {
    let own = Set([
      try head(of: ben), BlobPath(VaultPath.device(ben.vault.person, ben.vault.device).string),
    ])
    let before = ben.store.blobs
    let paths = before.keys.filter { path in
      guard let parsed = VaultPath(parsing: path.string) else { return false }
      if case .device = parsed { return !own.contains(path) }
      return parsed.isHead && !own.contains(path) || parsed.isStatement
    }
    #expect(paths.count > 10)
    for path in paths.sorted(by: { $0.string < $1.string }) {
      try self.plant(plant, at: path)
      try ben.sync(usb, looksEverywhere: true)
      // Of a wrap for somebody else only its form can be told.
      if case .wrap(_, _, let device)? = VaultPath(parsing: path.string), plant == .flipped,
        device != ben.vault.device
      {
        try ben.store.replace(path, #require(before[path]), durably: true)
      }
      #expect(ben.store.blobs[path] == before[path], "\(path.string)")
    }
    #expect(try ben.titles == ["First", "Ben's"])
  }

  /// Also what others need, and this machine reads nothing of: introductions, wraps, heads of members without their keys.
  @Test func checkTellsOfEveryStatementThatDoesNotHold() throws {
    let alone = try anna.vault.addMember(named: #require(FileName("Alone"))).id
    for _ in 0..<2 { for adult in [anna, ben] { try adult.sync(usb) } }
    func told() throws -> Set<String> {
      let problems = try ben.opened().check(readsData: false).problems
      return Set(problems.filter { $0.severity > .note }.map(\.path))
    }
    #expect(try told() == [])
    let before = ben.store.blobs
    let paths = before.keys.compactMap { VaultPath(parsing: $0.string) }.filter { path in
      if case .head(alone, _) = path { true } else { path.isStatement }
    }
    #expect(paths.contains { $0.isHead })
    #expect(paths.contains { if case .introduction = $0 { true } else { false } })
    #expect(paths.contains { if case .epochWrap(alone, _) = $0 { true } else { false } })
    for path in paths {
      let blob = BlobPath(path.string)
      try plant(.flipped, at: blob)
      #expect(try told().contains(path.string), "\(path.string)")
      try ben.store.replace(blob, #require(before[blob]), durably: true)
    }
  }

  /// A program that copies has brought a head before the link that it goes on from, which another remote has: the older one
  /// does not take its place.
  @Test func aNewerOneThatWaitsStays() throws {
    let path = try head(of: anna)
    let disk = MemoryStore()
    let carla = try SyncingAdult(joining: anna.vault.invite(), as: "Carla")
    try carla.sync(disk, as: "disk")
    try anna.sync(disk, as: "disk")
    try anna.vault.share(#require(anna.emma), with: carla.vault.person, role: .viewer)
    try anna.write("Second")
    try anna.sync(disk, as: "disk")
    let newer = try #require(anna.store.blobs[path])
    #expect(newer != usb.blobs[path])
    try ben.store.replace(path, newer, durably: true)
    for _ in 0..<2 { try ben.sync(usb) }
    #expect(ben.store.blobs[path] == newer)
    try ben.sync(disk, as: "disk")
    #expect(ben.store.blobs[path] == newer)
  }

  /// Who reads nothing of the member carries it.
  @Test(arguments: [Plant.noise, .flipped])
  func whoOnlyCarriesPutsItBackAsWell(_ plant: Plant) throws {
    let disk = MemoryStore()
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    try anna.sync(usb)
    try ben.sync(usb)
    #expect(ben.emma == nil)
    let annas = try head(of: anna)
    let before = try #require(ben.store.blobs[annas])
    var bytes = before
    bytes[bytes.count / 2] ^= 1
    try ben.store.replace(
      annas, plant == .noise ? [UInt8](repeating: 7, count: 300) : bytes, durably: true)
    try ben.sync(usb)
    #expect(ben.store.blobs[annas] == before)
    try ben.sync(disk, as: "disk")
    #expect(disk.blobs[annas] == before)
  }

  /// A head of before, when its person had access that was taken and given again since: it counts for nothing, and is no news.
  @Test func aHeadOfBeforeKeepsNoNewsAway() throws {
    let path = try head(of: ben)
    let old = try #require(anna.store.blobs[path])
    try anna.vault.beginEpoch(of: #require(anna.emma), without: [ben.vault.person])
    for _ in 0..<2 {
      try anna.sync(usb)
      try ben.sync(usb)
    }
    try anna.vault.share(#require(anna.emma), with: ben.vault.person, role: .editor)
    try anna.sync(usb)
    try ben.sync(usb)
    try ben.write("Again")
    try ben.sync(usb)
    try anna.sync(usb)
    #expect(try anna.titles == ["First", "Ben's", "Again"])
    try anna.store.replace(path, old, durably: true)
    for _ in 0..<2 { try anna.sync(usb) }
    #expect(anna.store.blobs[path] == usb.blobs[path])
  }
}
