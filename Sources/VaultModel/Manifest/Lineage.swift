/// One head of a device, as later ones of its line remember it: Docs/Format.md, "Lines".
package struct HeadMark: Hashable, Sendable, BitwiseCopyable {
  package let counter: UInt64
  /// The first eight bytes of the SHA-256 of the file.
  package let beginning: UInt64

  init(counter: UInt64, beginning: UInt64) {
    self.counter = counter
    self.beginning = beginning
  }

  package init(counter: UInt64, hash: FileHash) {
    self.counter = counter
    beginning = hash.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// The heads that came before a head in its line, by counter. Pure; Docs/Format.md, "Lines".
package struct Lineage: Hashable, Sendable {
  /// How a head of a device stands to another one of the same device.
  package enum Standing: Hashable, Sendable {
    case same
    /// It goes on from the other one.
    case newer
    /// The other one goes on from it.
    case older
    /// Both go on from a common one with this counter, the last that they share; from none if it is 0. Two machines
    /// have written under one key.
    case apart(above: UInt64)
  }

  private var beginnings: [UInt64: UInt64] = [:]
  private var first = UInt64.max

  package init() {}

  package init(_ marks: some Sequence<HeadMark>) { add(marks) }

  package var marks: [HeadMark] {
    beginnings.map { HeadMark(counter: $0.key, beginning: $0.value) }
      .sorted { $0.counter < $1.counter }
  }

  package mutating func add(_ mark: HeadMark) {
    beginnings[mark.counter] = mark.beginning
    first = min(first, mark.counter)
  }

  package mutating func add(_ marks: some Sequence<HeadMark>) {
    for mark in marks { add(mark) }
  }

  package func contains(_ mark: HeadMark) -> Bool { beginnings[mark.counter] == mark.beginning }

  /// Whether it would have a head with this counter, if that were in the line: what was written before heads said where
  /// they come from is not known.
  package func reaches(_ counter: UInt64) -> Bool { counter >= first }

  /// How `head`, which this is the lineage of, stands to `known`, whose lineage is `other`.
  ///
  /// Where neither lineage reaches far enough to tell, the counters do.
  package func standing(
    of head: HeadMark, to known: HeadMark, _ other: Lineage
  ) -> Standing {
    if head == known { return .same }
    if head.counter > known.counter {
      if contains(known) || !reaches(known.counter) { return .newer }
    } else if head.counter < known.counter {
      if other.contains(head) || !other.reaches(head.counter) { return .older }
    }
    return .apart(above: lastCommon(head, known, other))
  }

  private func lastCommon(_ head: HeadMark, _ known: HeadMark, _ other: Lineage) -> UInt64 {
    var common: UInt64 = 0
    for mark in marks + [head] where other.contains(mark) || mark == known {
      common = max(common, mark.counter)
    }
    return common
  }
}

/// The heads of one device before a head, as a segment of that head holds a part of them.
package struct SegmentLineage: Hashable, Sendable {
  package var device: DeviceID
  package var marks: [HeadMark]

  package init(device: DeviceID, marks: [HeadMark]) {
    self.device = device
    self.marks = marks
  }

  package static let markByteCount = 16

  /// Sixteen bytes a mark: the counter, big-endian, and the beginning of the hash.
  var encodedMarks: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(marks.count * Self.markByteCount)
    for mark in marks {
      for number in [mark.counter, mark.beginning] {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
      }
    }
    return bytes
  }

  /// Nil when the bytes are no whole marks.
  static func marks(_ bytes: UnsafeRawBufferPointer) -> [HeadMark]? {
    guard bytes.count.isMultiple(of: markByteCount) else { return nil }
    func number(at offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return stride(from: 0, to: bytes.count, by: markByteCount).map {
      HeadMark(counter: number(at: $0), beginning: number(at: $0 + 8))
    }
  }
}
