import Notes
import TestSupport
import VaultCrypto
import VaultModel
import VaultPeople
import VaultTrust

@testable import Vault

/// Heads, and objects that they name, of which everything is made up.
extension Intruder {
  /// A text that no honest person has written.
  mutating func forgery() -> String {
    forgeryCount += 1
    return "<forged-\(forgeryCount)>"
  }

  /// A head of one of its devices, sealed with any key that it has.
  mutating func writeHead(in house: Household) throws {
    guard let signer = pick(signers) else { return }
    let member = pick(epochKeys.keys.sorted())
    guard let member, mayWriteRecords(of: member, by: signer.holder, in: house),
      let (epoch, keys) = pick((epochKeys[member] ?? [:]).sorted { $0.key < $1.key })
    else { return }
    let path = VaultPath.head(member, signer.device)
    let counter = (seen.heads[path]?.counter ?? 0) + (chance(4) ? 1 << 40 : 1)
    let head = try someHead(of: member, by: signer, keys, in: house)
    let sealed = files.seal(
      head.encoded(), with: keys.registerKey, .head, path, counter: counter)
    let links = seen.links[member] ?? [:]
    let followed = Set(links.values.flatMap(\.follows))
    let tips = links.keys.filter { !followed.contains($0) }.sorted()
    let body = HeadFile(
      member: member, person: signer.person, certificate: signer.certificate,
      device: signer.device, counter: counter, epoch: chance(5) ? pick(tips) ?? epoch : epoch,
      follows: chance(2) ? tips : pick(links.keys.sorted()).map { [$0] } ?? [],
      sealed: sealed.encoded(), generation: seen.certificates[signer.certificate]?.generation,
      keyID: keys.keyID)
    trace.append("  a head of \(member.shortHex) by \(signer.device.shortHex)")
    try put(path, files.statement(.head, body.encoded(), sign: signer.sign), in: house)
  }

  private mutating func put(
    _ kind: ObjectKind, _ content: [UInt8], _ keys: EpochKeys, in house: Household
  ) throws -> ContentDigest {
    let digest = content.withUnsafeBytes { HashedContent(kind, $0).digest }
    let name = keys.name(of: digest)
    try put(
      .object(keys.member, name), keys.seal(name: name, kind: kind, content: content), in: house)
    return digest
  }

  private mutating func someHead(
    of member: MemberID, by signer: Signer, _ keys: EpochKeys, in house: Household
  ) throws -> Head {
    var head = Head()
    head.time = HybridTime(milliseconds: house.now + (chance(4) ? 1 << 40 : 0))
    var entries: [RecordEntry] = []
    for _ in 0...number(below: 3) {
      if let entry = try someEntry(of: member, by: signer, keys, in: house) {
        entries.append(entry)
      }
    }
    // Not what is a member's own directory.
    head.checkpoint = [
      try put(.segment, Segment(entries: entries).encoded(), keys, in: house)
    ]
    // It has seen, and taken over, whatever anybody will ever write.
    let others = seen.heads.keys.compactMap { path -> DeviceID? in
      if case .head(member, let device) = path { device } else { nil }
    }.sorted()
    if chance(2) {
      head.cover = others.filter { $0 != signer.device }.map {
        Head.Cover(device: $0, counter: 1 << 30, headHash: .zero)
      }
      head.takenOver = head.cover
    }
    if chance(4), let other = pick(others) {
      head.branches = [Head.Branch(device: other, above: 0)]
      let mark = HeadMark(counter: 1 << 30, hash: .zero)
      head.retold = [Head.Retold(device: other, above: 0, by: signer.device, marks: [mark])]
    }
    if chance(4), let other = pick(others) {
      head.strays = [Head.Stray(device: other, counter: 1 << 30, headHash: .zero, above: 0)]
    }
    if chance(3) {
      // Everything is to go.
      let names = Array((seen.objects[member] ?? []).prefix(5_000))
      head.announcement = try put(
        .announcement, Announcement(names: names).encoded(), keys, in: house)
      head.announcedAt = 1
    }
    if chance(3) {
      head.names = house.persons.sorted().map { Head.Name(person: $0, name: "Mallory") }
    }
    return head
  }

  /// An entry with a revision: of a record that it makes up, or of one that is there, as whose device it likes.
  private mutating func someEntry(
    of member: MemberID, by signer: Signer, _ keys: EpochKeys, in house: Household
  ) throws -> RecordEntry? {
    let known = machines.compactMap { $0.vault.openedMembers.first { $0.id == member } }
      .flatMap { $0.allEntries() }.filter { $0.record != .root }.sorted { $0.record < $1.record }
    let old = chance(3) ? nil : pick(known)
    let writers = [signer.device] + known.map(\.device)
    guard let record = old?.record ?? RecordID(random.bytes(RecordID.byteCount)),
      let title = FileName(old?.title.string ?? forgery()), let writer = pick(writers)
    else { return nil }
    noteTouched(record, of: member, by: signer.holder, in: house)
    let time = HybridTime(milliseconds: house.now + (chance(5) ? 1 << 40 : 5))
    var version = old?.version ?? VersionVector()
    version = version.joined(
      with: VersionVector(device: writer, counter: version[writer] + UInt64(1 + number(below: 9))))
    var revision = RecordRevision(
      record: record,
      place: RecordPlace(parent: old?.parent ?? .root, title: title, isDeleted: chance(5)),
      placeTime: time, attributesTime: time, version: version, time: time, device: writer,
      previous: old.map { [$0.revision] } ?? [], document: .note(forgery()))
    if chance(4), let other = pick(known) {
      // As if two had been joined.
      revision.previous.append(other.revision)
    }
    let bytes: [UInt8]
    let (person, vault) = (signer.certificate, vault)
    if chance(3) {
      bytes = revision.encode { _ in .zero }
    } else {
      bytes = revision.encodeSigned(
        by: person, sign: { signer.sign(vault.signedMessage(ofRevision: $0, in: member)) },
        storingPages: { _ in .zero })
    }
    let digest = try put(.record, bytes, keys, in: house)
    var entry = RecordEntry(revision, named: digest, summary: FrontMatterSummary())
    if chance(4) {
      // It says other things than what it names.
      if let old { entry.revision = old.revision }
      entry.isDeleted.toggle()
      if let title = FileName(forgery()) { entry.title = title }
    }
    return entry
  }
}
