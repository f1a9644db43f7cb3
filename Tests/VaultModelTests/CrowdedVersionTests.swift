import Fuzzing
import Testing
import VaultModel

/// A version that names very many devices is begun anew by whoever goes on from it: Docs/Format.md, "Very many devices".
@Suite struct CrowdedVersionTests {
  private let random: SeededRandom
  private let record: RecordID
  private let own: DeviceID
  private let other: DeviceID
  /// Another device, of which a head is here.
  private let known: DeviceID
  /// Of a revision that somebody has made up.
  private let crowded: RecordEntry

  init() {
    var random = SeededRandom(seed: 7)
    record = random.id()
    own = random.id()
    other = random.id()
    let known: DeviceID = random.id()
    var version = VersionVector(device: known, counter: 3)
    for _ in 0..<Limits.versionDevicesKept {
      version = version.joined(with: VersionVector(device: random.id(), counter: 1))
    }
    crowded = RecordEntry(
      record: record, parent: .root, title: .record, revision: random.id(), version: version,
      time: .zero, device: known)
    self.known = known
    self.random = random
  }

  /// What a device makes of the crowded revision, in this head of its.
  private func changed(by device: DeviceID, _ counter: UInt64, _ revision: ContentDigest)
    -> RecordEntry
  {
    var version = crowded.version
    version[device] = counter
    version = version.begunAnew(over: crowded.revision, by: device) { $0 == known }
    return RecordEntry(
      record: record, parent: .root, title: .record, revision: revision, version: version,
      time: .zero, device: device)
  }

  @Test func whoGoesOnFromItReplacesIt() {
    var random = random
    let after = changed(by: own, 5, random.id())
    #expect(crowded.version.isCrowded && !after.version.isCrowded && after.version.isBegunAnew)
    #expect(after.version.entries.count == 3)
    #expect(after.version[own] == 5 && after.version[known] == 3)
    #expect(after.version.entries.count { $0.device.standsForRevision } == 1)
    #expect(after.compare(to: crowded) == .dominates)
    #expect(crowded.compare(to: after) == .dominated)
    for entries in [[crowded, after], [after, crowded], [crowded, after, crowded]] {
      #expect(Manifest(entries).rivals(of: record) == [after])
    }
    // So does whoever goes on from that.
    var later = after
    later.version[own] = 6
    later.revision = random.id()
    for entries in [[crowded, later], [later, after, crowded]] {
      #expect(Manifest(entries).rivals(of: record) == [later])
    }
  }

  @Test func twoWhoGoOnFromItAreJoined() {
    var random = random
    let (one, two) = (changed(by: own, 5, random.id()), changed(by: other, 9, random.id()))
    #expect(one.compare(to: two) == .concurrent)
    #expect(Set(Manifest([one, crowded, two]).rivals(of: record)) == [one, two])
    var join = one
    (join.version, join.revision) = (one.version.joined(with: two.version), random.id())
    #expect(Manifest([one, two, join, crowded]).rivals(of: record) == [join])
  }

  /// Naming one revision says nothing of another one, whatever that knows.
  @Test func itReplacesNothingElse() {
    var random = random
    var similar = crowded
    similar.revision = random.id()
    #expect(changed(by: own, 5, random.id()).compare(to: similar) == .concurrent)
  }
}
