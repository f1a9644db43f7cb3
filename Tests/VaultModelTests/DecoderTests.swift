import Fuzzing
import Testing

@testable import VaultModel

@Suite struct DecoderTests {
  @Test func whatIsEncodedDecodes() throws {
    for sample in try SampleDecoder.all() {
      #expect(try sample.reencode(sample.valid) == sample.valid, "\(sample.name)")
    }
  }

  @Test func unknownFieldsAreKept() throws {
    // Field 1000, three bytes; field 1001, a number; as a later version may add them.
    let unknown: [UInt8] = [0xc2, 0x3e, 3, 1, 2, 3, 0xc8, 0x3e, 0x96, 0x01]
    for sample in try SampleDecoder.all() where sample.name != "vault.json" {
      // A page is canonical: it has nothing but its items or children; a signed file nothing but a body and a signature.
      if ["page", "branch", "signed file"].contains(sample.name) { continue }
      // What is signed is judged as it stands, and never written anew.
      if ["link", "leaving", "head register"].contains(sample.name) { continue }
      // A revision's signature, with the certificate, is behind all that is signed.
      let tail = sample.name == "signed revision" ? 35 + 67 : 0
      let expected = sample.valid.dropLast(tail) + unknown + sample.valid.suffix(tail)
      #expect(try sample.reencode(unknown + sample.valid) == Array(expected), "\(sample.name)")
    }
  }

  @Test func unknownFieldsOfEntriesAndItemsAreKept() throws {
    let unknown = UnknownFields(bytes: [0xc2, 0x3e, 1, 7])
    var random = SeededRandom(seed: 1)
    var entry = try random.entry(devices: [random.id()])
    entry.unknown = unknown
    let segment = try Segment(decoding: Segment(entries: [entry]).encoded())
    #expect(segment.entries == [entry])
    var item = random.item(named: .record)
    item.unknown = unknown
    #expect(try ItemPage(decoding: ItemPage.leaf([item]).encoded()) == .leaf([item]))
  }

  /// Every field of every sample is one of `kinvault.proto`, of the type that it has there, and in its place: what
  /// protoc writes of what it has read is the same.
  @Test func bytesAreThoseOfProtocolBuffers() throws {
    let messages = [
      "segment": "Segment", "page": "ItemPage", "branch": "ItemPage", "revision": "RecordRevision",
      "signed revision": "RecordRevision", "index": "ChunkIndex", "announcement": "Announcement",
      "list of revisions": "AuthoredList", "head": "Head", "redo record": "RedoRecord",
      "signed file": "SignedFile", "sealed value": "Sealed", "recovery slot": "RecoverySlot",
      "device request": "DeviceRequestBody", "sealed device request": "DeviceRequest",
      "device": "DeviceBody", "device profile": "DeviceProfile", "introduction": "IntroductionBody",
      "sealed introduction": "Introduction", "audit segment": "AuditSegmentBody",
      "audit events": "AuditEvents", "device file": "DeviceFile", "slot": "UnlockSlot",
      "watermarks": "Watermarks",
    ]
    // Statements are messages too, which Docs/Format.md lists and InteropTests reads; `vault.json` is none.
    let others: Set = ["link", "leaving", "head register", "vault.json"]
    for sample in try SampleDecoder.all() where !others.contains(sample.name) {
      let message = try #require(messages[sample.name], "\(sample.name)")
      let text = try Protoc.text(of: sample.valid, message)
      #expect(try Protoc.bytes(of: text, message) == sample.valid, "\(sample.name)")
    }
  }

  /// A field twice: the last one counts, and the other one has to be right. With another type of value it is one that nobody
  /// knows.
  @Test func ofOneFieldTheLastCounts() throws {
    let twice: [UInt8] = [0x0a, 1, 0x61, 0x0a, 1, 0x62, 0x08, 5]
    let introduction = try Introduction(decoding: twice)
    #expect(introduction.name == "b")
    #expect(introduction.unknown.bytes == [0x08, 5])
    #expect(introduction.encoded() == [0x0a, 1, 0x62, 0x08, 5])
    #expect(throws: ModelError.self) { try Introduction(decoding: [0x0a, 1, 0xff] + twice) }
  }

  /// What is too much for a reader a writer writes: `Head` is the same list of fields for both.
  @Test func limitsAreTheReaders() {
    let head = Head(authored: Array(repeating: .zero, count: Limits.headLists + 1))
    let encoded = head.encoded()
    #expect(throws: ModelError.self) { try Head(decoding: encoded) }
  }

  @Test func fieldsAreThoseOfTheProtoFile() throws {
    var random = SeededRandom(seed: 8)
    let entry = try random.entry(devices: [random.id(), random.id()])
    let segment = try Protoc.text(of: Segment(entries: [entry]).encoded(), "Segment")
    let fields = """
      entries {
        record: \(Protoc.literal(entry.record.bytes))
        revision: \(Protoc.literal(entry.revision.bytes))
        title: \(Protoc.literal(entry.title.bytes))
        type: \(Protoc.literal(Array(entry.type.utf8)))
        date: \(Protoc.literal(Array(entry.date.utf8)))
        time: \(entry.time.rawValue)
        mode: \(entry.mode)
        modified { seconds: \(entry.modified.seconds) nanoseconds: \(entry.modified.nanoseconds) }
        gid_plus_one: 1001
      }
      """
    // In the form that protoc writes itself, each of the lines stands in the message as we write it.
    let expected = try Protoc.text(of: Protoc.bytes(of: Array(fields.utf8), "Segment"), "Segment")
    let lines = Set(segment.split(separator: UInt8(ascii: "\n")))
    for line in expected.split(separator: UInt8(ascii: "\n")) {
      #expect(lines.contains(line), "\(String(decoding: line, as: UTF8.self))")
    }
    #expect(!String(decoding: segment, as: UTF8.self).contains("uid_plus_one"))
    let device = Protoc.literal(entry.device.bytes)
    let devices = try Protoc.text(
      of: Protoc.bytes(of: Array("devices: \(device)".utf8), "Segment"), "Segment")
    #expect(lines.contains(devices.dropLast()))
  }

  @Test func aSizeThatDoesNotFitTheContentIsRefused() throws {
    for (size, content) in [
      (0, .chunks([nil])), (UInt64(1 << 20) + 1, .chunks([nil])), (1, .none), (2, .inline([1])),
      (UInt64.max, .chunks([nil])), (5, .indexes([.zero])),
      (17 << 20, .chunks(Array(repeating: nil, count: 17))),
    ] as [(UInt64, Item.Content)] {
      let item = Item(
        name: .record, file: .zero, size: size, content: content, time: .zero)
      #expect(throws: ModelError.self) {
        try ItemPage(decoding: ItemPage.leaf([item]).encoded())
      }
    }
  }

  @Test func deviceKeysAreReadWhereTheyStand() throws {
    var random = SeededRandom(seed: 3)
    let (seed, key) = (random.bytes(32), random.bytes(32))
    var encoded = [UInt8](repeating: 0, count: DeviceKeys.encodedByteCount)
    seed.withUnsafeBytes { seed in
      key.withUnsafeBytes { key in
        encoded.withUnsafeMutableBytes {
          DeviceKeys.encode(signingSeed: seed, agreementPrivateKey: key, into: $0)
        }
      }
    }
    let text = """
      signing_seed: \(Protoc.literal(seed)) agreement_private_key: \(Protoc.literal(key))
      """
    #expect(try Protoc.bytes(of: Array(text.utf8), "DeviceKeys") == encoded)
    try encoded.withUnsafeBytes { bytes in
      let keys = try DeviceKeys.decode(bytes)
      #expect(Array(keys.signingSeed) == seed && Array(keys.agreementPrivateKey) == key)
      let short = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
      #expect(throws: ModelError.self) { _ = try DeviceKeys.decode(short) }
    }
  }
}
