import Fuzzing
import SwiftProtobuf
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
  /// SwiftProtobuf writes of what it knows of them is the same.
  @Test func bytesAreThoseOfSwiftProtobuf() throws {
    let messages: [String: any SwiftProtobuf.Message.Type] = [
      "segment": Kinvault_V2_Segment.self, "page": Kinvault_V2_ItemPage.self,
      "branch": Kinvault_V2_ItemPage.self, "revision": Kinvault_V2_RecordRevision.self,
      "signed revision": Kinvault_V2_RecordRevision.self, "index": Kinvault_V2_ChunkIndex.self,
      "announcement": Kinvault_V2_Announcement.self,
      "list of revisions": Kinvault_V2_AuthoredList.self, "head": Kinvault_V2_Head.self,
      "redo record": Kinvault_V2_RedoRecord.self, "signed file": Kinvault_V2_SignedFile.self,
      "sealed value": Kinvault_V2_Sealed.self, "recovery slot": Kinvault_V2_RecoverySlot.self,
      "device request": Kinvault_V2_DeviceRequestBody.self,
      "sealed device request": Kinvault_V2_DeviceRequest.self,
      "device": Kinvault_V2_DeviceBody.self,
      "device profile": Kinvault_V2_DeviceProfile.self,
      "introduction": Kinvault_V2_IntroductionBody.self,
      "sealed introduction": Kinvault_V2_Introduction.self,
      "audit segment": Kinvault_V2_AuditSegmentBody.self,
      "audit events": Kinvault_V2_AuditEvents.self, "device file": Kinvault_V2_DeviceFile.self,
      "slot": Kinvault_V2_UnlockSlot.self,
      "watermarks": Kinvault_V2_Watermarks.self,
    ]
    // Statements are messages too, which Docs/Format.md lists and InteropTests reads; `vault.json` is none.
    let others: Set = ["link", "leaving", "head register", "vault.json"]
    var onlyKnown = BinaryDecodingOptions()
    onlyKnown.discardUnknownFields = true
    for sample in try SampleDecoder.all() where !others.contains(sample.name) {
      let type = try #require(messages[sample.name], "\(sample.name)")
      let message = try type.init(serializedBytes: sample.valid, options: onlyKnown)
      let theirs: [UInt8] = try message.serializedBytes()
      #expect(theirs == sample.valid, "\(sample.name)")
    }
  }

  /// A field twice: the last one counts. With another type of value it is one that nobody knows.
  @Test func ofOneFieldTheLastCounts() throws {
    let twice: [UInt8] = [0x0a, 1, 0x61, 0x0a, 1, 0x62, 0x08, 5]
    let introduction = try Introduction(decoding: twice)
    #expect(introduction.name == "b")
    #expect(introduction.unknown.bytes == [0x08, 5])
    #expect(introduction.encoded() == [0x0a, 1, 0x62, 0x08, 5])
  }

  @Test func fieldsAreThoseOfTheProtoFile() throws {
    var random = SeededRandom(seed: 8)
    let entry = try random.entry(devices: [random.id(), random.id()])
    let message = try Kinvault_V2_Segment(serializedBytes: Segment(entries: [entry]).encoded())
    let theirs = try #require(message.entries.first)
    #expect(theirs.unknownFields.data.isEmpty)
    #expect([UInt8](theirs.record) == entry.record.bytes)
    #expect([UInt8](theirs.revision) == entry.revision.bytes)
    #expect([UInt8](theirs.title) == entry.title.bytes)
    #expect(theirs.type == entry.type && theirs.date == entry.date)
    #expect(theirs.time == entry.time.rawValue && theirs.mode == entry.mode)
    #expect(theirs.modified.seconds == entry.modified.seconds)
    #expect(theirs.gidPlusOne == 1_001 && theirs.uidPlusOne == 0)
    #expect([UInt8](message.devices[Int(theirs.device)]) == entry.device.bytes)
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
    let message = try Kinvault_V2_DeviceKeys(serializedBytes: encoded)
    #expect([UInt8](message.signingSeed) == seed)
    #expect([UInt8](message.agreementPrivateKey) == key)
    try encoded.withUnsafeBytes { bytes in
      let keys = try DeviceKeys.decode(bytes)
      #expect(Array(keys.signingSeed) == seed && Array(keys.agreementPrivateKey) == key)
      let short = UnsafeRawBufferPointer(rebasing: bytes.dropLast())
      #expect(throws: ModelError.self) { _ = try DeviceKeys.decode(short) }
    }
  }
}
