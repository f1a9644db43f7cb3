import VaultModel
import VaultTrust

/// A decoder under test: valid bytes, and decoding followed by encoding.
package struct SampleDecoder: Sendable {
  package let name: String
  package let valid: [UInt8]
  /// Nil when the bytes are refused; throws nothing but `ModelError`.
  package let reencode: @Sendable ([UInt8]) throws -> [UInt8]

  private init<Value: Equatable & SendableMetatype>(
    _ name: String, _ value: Value, _ decode: @escaping @Sendable ([UInt8]) throws -> Value,
    _ encode: @escaping @Sendable (Value) -> [UInt8]
  ) {
    self.name = name
    valid = encode(value)
    reencode = { bytes in
      let value = try decode(bytes)
      let encoded = encode(value)
      guard try decode(encoded) == value else { throw ChangedByEncoding() }
      return encoded
    }
  }

  package struct ChangedByEncoding: Error {}

  /// Every decoder of the module, each with a value in which every field is set.
  package static func all() throws -> [SampleDecoder] {
    var random = SeededRandom(seed: 2_024)
    let sealed = Sealed(nonce: random.bytes(12), ciphertext: random.bytes(40))
    let item = random.item(named: try fileName("scan.jpg"))
    let devices: [DeviceID] = [random.id(), random.id()]
    return try objects(&random, item, devices) + people(&random, sealed)
      + members(&random, sealed) + state(&random, sealed)
  }

  private static func objects(
    _ random: inout SeededRandom, _ item: Item, _ devices: [DeviceID]
  ) throws -> [SampleDecoder] {
    let entries = try (0..<4).map { _ in try random.entry(devices: devices) }
    var version = VersionVector(device: devices[0], counter: 3)
    version[devices[1]] = 300
    let revision = RecordRevision(
      record: random.id(),
      place: RecordPlace(parent: .root, title: try fileName("Visit"), isDeleted: true),
      placeTime: HybridTime(rawValue: 4),
      attributes: RecordAttributes(
        mode: 0o755, modified: FileTimestamp(seconds: -9, nanoseconds: 8),
        owner: Owner(uid: 1, gid: 2), xattrs: [Xattr(name: Array("user.b".utf8), value: [1])]),
      attributesTime: HybridTime(rawValue: 5), version: version, time: HybridTime(rawValue: 6),
      device: devices[0], previous: [random.id(), random.id()],
      document: random.item(named: .record), items: ItemTree(items: [item]))
    var signed = revision
    signed.signature = .init(certificate: random.id(), bytes: random.bytes(64))
    return [
      .init("segment", Segment(entries: entries), Segment.init(decoding:)) { $0.encoded() },
      .init("page", ItemPage.leaf([item]), ItemPage.init(decoding:)) { $0.encoded() },
      .init(
        "branch", ItemPage.branch((0..<16).map { $0 % 3 == 0 ? random.id() : nil }),
        ItemPage.init(decoding:)
      ) { $0.encoded() },
      .init("revision", revision, RecordRevision.init(decoding:)) { revision in
        var revision = revision
        return revision.encode { _ in .zero }
      },
      .init("signed revision", signed, RecordRevision.init(decoding:)) { revision in
        var revision = revision
        return revision.encode { _ in .zero }
      },
      .init("index", ChunkIndex(chunks: [random.id(), nil]), ChunkIndex.init(decoding:)) {
        $0.encoded()
      },
      .init(
        "list of revisions", AuthoredList(revisions: [random.id(), random.id()]),
        AuthoredList.init(decoding:)
      ) { $0.encoded() },
      .init("announcement", Announcement(names: [random.id()]), Announcement.init(decoding:)) {
        $0.encoded()
      },
      .init(
        "head",
        Head(
          checkpoint: [random.id()], deltas: [random.id(), random.id()],
          cover: [Head.Cover(device: random.id(), counter: 9, headHash: random.id())],
          time: HybridTime(rawValue: 99), announcement: random.id(), announcedAt: 7,
          redone: [Head.Redone(writer: random.id(), sequence: 300)],
          branches: [Head.Branch(device: random.id(), above: 3)],
          strays: [Head.Stray(device: random.id(), counter: 8, headHash: random.id(), above: 2)],
          heard: [Head.Cover(device: random.id(), counter: 1, headHash: random.id())],
          names: [Head.Name(person: random.id(), name: "Adult B")],
          reached: [Head.Reached(device: random.id(), counter: 12)], authored: [random.id()],
          journals: [Head.PastJournal(wrapped: random.bytes(40))],
          reads: Head.Reads(areNoted: true, time: 9, person: random.id()),
          takenOver: [Head.Cover(device: random.id(), counter: 4, headHash: random.id())],
          retold: [
            Head.Retold(
              device: random.id(), above: 5, by: random.id(),
              marks: [HeadMark(counter: 6, hash: random.id())])
          ]),
        Head.init(decoding:)
      ) { $0.encoded() },
      .init(
        "redo record",
        RedoRecord(
          edits: [
            RedoEdit(
              record: random.id(), isNew: true,
              place: RecordPlace(parent: .root, title: try fileName("Visit"), isDeleted: true),
              attributes: revision.attributes, items: [item],
              removed: [try fileName("old"), try fileName("older")],
              seen: [
                RedoEdit.Seen(
                  name: try fileName("old"),
                  file: SeenFile(changed: HybridTime(rawValue: 7), content: .inline([1])))
              ],
              seenPlace: RecordPlace(parent: .root, title: try fileName("Checkup")))
          ],
          objects: [RedoRecord.Object(digest: random.id(), kind: .chunk, file: [1, 2])],
          folder: 12, path: Array("/home/a/Family".utf8)),
        RedoRecord.init(decoding:)
      ) { $0.encoded() },
    ]
  }

  private static func people(
    _ random: inout SeededRandom, _ sealed: Sealed
  ) -> [SampleDecoder] {
    let recovery = RecoverySlot(
      salt: random.bytes(16), passes: 3, memoryKiB: 65_536, wrappedMasterKey: random.bytes(40))
    return [
      .init(
        "signed file", SignedFile(body: random.bytes(50), signature: random.bytes(64)),
        SignedFile.init(decoding:)
      ) { $0.encoded() },
      .init("sealed value", sealed, Sealed.init(decoding:)) { $0.encoded() },
      .init("recovery slot", recovery, RecoverySlot.init(decoding:)) { $0.encoded() },
      .init(
        "sealed device request", DeviceRequest(deviceName: "Kitchen", deviceKind: "laptop"),
        DeviceRequest.init(decoding:)
      ) { $0.encoded() },
      .init(
        "device request",
        DeviceRequestBody(
          person: random.id(), device: random.id(), signingPublicKey: random.bytes(32),
          agreementPublicKey: random.bytes(1_216), consent: random.bytes(64), time: 5,
          sealed: Sealed(nonce: random.bytes(12), ciphertext: random.bytes(40))),
        DeviceRequestBody.init(decoding:)
      ) { $0.encoded() },
      .init(
        "device",
        DeviceBody(
          person: random.id(), device: random.id(), counter: 1, previous: random.id(),
          generation: random.id(), sealed: sealed,
          logEnd: LogEnd(next: 7, newest: random.id())),
        DeviceBody.init(decoding:)
      ) { $0.encoded() },
      .init(
        "device profile",
        DeviceProfile(
          deviceName: "Kitchen", deviceKind: "laptop",
          profile: PersonalProfile(
            name: "Adult A", time: HybridTime(rawValue: 7),
            people: [
              Acquaintance(
                person: random.id(), name: "Adult B", verification: .other(7), time: 8)
            ],
            invitations: [
              OpenInvitation(
                id: random.id(), secret: random.bytes(16), created: 1, until: 9, time: 1),
              OpenInvitation(
                id: random.id(), secret: nil, created: 1, until: 9, answeredBy: random.id(),
                time: 2),
            ],
            members: [
              MemberName(member: random.id(), title: FileName("Emma"), time: 3),
              MemberName(member: random.id(), title: nil, time: 4),
            ]), created: 6),
        DeviceProfile.init(decoding:)
      ) { $0.encoded() },
      .init(
        "introduction",
        IntroductionBody(
          person: random.id(), certificate: random.id(), invitation: random.id(), time: 5,
          sealed: sealed),
        IntroductionBody.init(decoding:)
      ) { $0.encoded() },
      .init("sealed introduction", Introduction(name: "Adult B"), Introduction.init(decoding:)) {
        $0.encoded()
      },
    ]
  }

  private static func members(
    _ random: inout SeededRandom, _ sealed: Sealed
  ) -> [SampleDecoder] {
    [
      .init(
        "link",
        Link(
          member: random.id(), person: random.id(), certificate: random.id(),
          place: Place(link: random.id(), person: random.id()),
          follows: [random.id(), random.id()],
          changes: [
            .give(random.id(), .editor, until: 9), .limit(random.id(), .viewer, until: 8),
            .handOver(random.id()), .offer(random.id()),
          ], epoch: random.id(),
          wraps: [
            Wrap(epoch: nil, person: random.id(), generation: random.id(), file: random.id()),
            Wrap(
              epoch: random.id(), person: random.id(), generation: random.id(), file: random.id()),
          ], time: 5, confirmed: [random.id()]),
        Link.init(decoding:)
      ) { $0.encoded() },
      .init(
        "leaving",
        Self.leaving(of: random.id(), &random),
        Link.init(decoding:)
      ) { $0.encoded() },
      .init(
        "head register",
        HeadFile(
          member: random.id(), person: random.id(), certificate: random.id(),
          device: random.id(), counter: 4, previous: random.id(), epoch: random.id(),
          follows: [random.id(), random.id()], sealed: sealed.encoded(), generation: random.id(),
          keyID: random.id()),
        HeadFile.init(decoding:)
      ) { $0.encoded() },
    ]
  }

  private static func leaving(of person: PersonID, _ random: inout SeededRandom) -> Link {
    Link(
      member: random.id(), person: person, certificate: random.id(), place: nil,
      changes: [.limit(person, .viewer, until: 0)], time: 6,
      heads: [LastHead(device: random.id(), counter: 3)])
  }

  private static func state(
    _ random: inout SeededRandom, _ sealed: Sealed
  ) throws -> [SampleDecoder] {
    [
      .init(
        "audit segment",
        AuditSegmentBody(
          person: random.id(), device: random.id(), first: 1, previous: random.id(),
          generation: random.id(), sealed: sealed,
          slots: [JournalSlot(tag: random.id(), sealed: sealed, first: 7, position: 3)],
          replaces: [ReplacedSegment(first: 7, hash: random.id())]),
        AuditSegmentBody.init(decoding:)
      ) { $0.encoded() },
      .init(
        "audit events",
        AuditEvents(
          events: [
            AuditEvent(
              time: 1, action: "write", member: random.id(), record: random.id(), name: .record,
              detail: "é", count: 3, place: "Emma/Wrist", device: "desk", person: random.id(),
              about: "Ben"),
            AuditEvent(time: 2, action: "unlock"),
          ], padding: [0, 0, 0], usedSlots: 2), AuditEvents.init(decoding:)
      ) { $0.encoded() },
      .init(
        "device file",
        DeviceFile(
          vault: random.id(), person: random.id(), device: random.id(), deviceKeys: sealed,
          checksum: random.id()), DeviceFile.init(decoding:)
      ) { $0.encoded() },
      .init(
        "slot",
        UnlockSlot(
          vault: random.id(), id: random.id(), name: "Schlüssel am Bund",
          created: 1_700_000_000_000,
          wrappedUnlockKey: random.bytes(40),
          parts: [
            .password(salt: random.bytes(16), passes: 3, memoryKiB: 65_536),
            .keyring,
            .token(credential: random.bytes(64), salt: random.bytes(32), asksForPIN: true),
            .tpm(publicArea: random.bytes(90), privateArea: random.bytes(160), asksForPIN: false),
          ], checksum: random.id()), UnlockSlot.init(decoding:)
      ) { $0.encoded() },
      .init(
        "watermarks",
        Watermarks(marks: [
          Watermark(path: .head(random.id(), random.id()), counter: 5, hash: random.id(), floor: 4)
        ]), Watermarks.init(decoding:)
      ) { $0.encoded() },
      .init(
        "vault.json", VaultDescription(vault: random.id()),
        VaultDescription.init(decoding:)
      ) { $0.encoded() },
    ]
  }
}
