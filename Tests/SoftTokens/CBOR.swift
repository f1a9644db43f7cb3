/// The part of CBOR (RFC 8949) that FIDO2 tokens speak.
indirect enum CBOR: Hashable, Sendable {
  case number(Int)
  case bytes([UInt8])
  case text(String)
  case list([CBOR])
  case map([Pair])
  case flag(Bool)

  struct Pair: Hashable, Sendable {
    var key: CBOR
    var value: CBOR
  }

  static func map(_ pairs: (CBOR, CBOR)...) -> CBOR {
    .map(pairs.map { Pair(key: $0.0, value: $0.1) })
  }

  subscript(_ key: CBOR) -> CBOR? {
    guard case .map(let pairs) = self else { return nil }
    return pairs.first { $0.key == key }?.value
  }

  subscript(_ key: Int) -> CBOR? { self[.number(key)] }

  var asBytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
  var asNumber: Int? { if case .number(let number) = self { number } else { nil } }
  var asFlag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
  var asList: [CBOR]? { if case .list(let list) = self { list } else { nil } }

  // MARK: Bytes

  var encoded: [UInt8] {
    switch self {
    case .number(let number):
      number >= 0 ? Self.head(0, number) : Self.head(1, -1 - number)
    case .bytes(let bytes): Self.head(2, bytes.count) + bytes
    case .text(let text): Self.head(3, text.utf8.count) + Array(text.utf8)
    case .list(let list): Self.head(4, list.count) + list.flatMap(\.encoded)
    case .map(let pairs):
      Self.head(5, pairs.count) + pairs.flatMap { $0.key.encoded + $0.value.encoded }
    case .flag(let flag): [flag ? 0xf5 : 0xf4]
    }
  }

  private static func head(_ kind: UInt8, _ count: Int) -> [UInt8] {
    switch count {
    case ..<24: [kind << 5 | UInt8(count)]
    case ..<256: [kind << 5 | 24, UInt8(count)]
    default: [kind << 5 | 25, UInt8(count >> 8), UInt8(count & 0xff)]
    }
  }

  /// The value at the beginning of the bytes, which are what libfido2 wrote; nil for what is none.
  static func decode(_ bytes: [UInt8]) -> CBOR? {
    var rest = bytes[...]
    return next(&rest)
  }

  private static func next(_ rest: inout ArraySlice<UInt8>) -> CBOR? {
    guard let first = rest.popFirst() else { return nil }
    if first == 0xf4 || first == 0xf5 { return .flag(first == 0xf5) }
    var count = Int(first & 0x1f)
    if count >= 24 {
      let size = 1 << (count - 24)
      guard size <= 4, rest.count >= size else { return nil }
      count = rest.prefix(size).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(size)
    }
    switch first >> 5 {
    case 0: return .number(count)
    case 1: return .number(-1 - count)
    case 2, 3:
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      let content = Array(rest.prefix(count))
      return first >> 5 == 2 ? .bytes(content) : .text(String(decoding: content, as: UTF8.self))
    case 4: return items(count, &rest).map { .list($0) }
    case 5:
      return items(count * 2, &rest).map { items in
        .map(
          stride(from: 0, to: items.count, by: 2).map {
            Pair(key: items[$0], value: items[$0 + 1])
          })
      }
    default: return nil
    }
  }

  private static func items(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> [CBOR]? {
    var found: [CBOR] = []
    for _ in 0..<count {
      guard let item = next(&rest) else { return nil }
      found.append(item)
    }
    return found
  }
}
