import Fuzzing
import Testing
import VaultModel

@Suite struct VaultPathTests {
  private func paths() -> [VaultPath] {
    var random = SeededRandom(seed: 5)
    return [
      .vault, .closing(random.id(), random.id()), .certificate(random.id(), random.id()),
      .wrap(random.id(), random.id(), random.id()),
      .device(random.id(), random.id()), .deviceRequest(random.id(), random.id()),
      .introduction(random.id()), .memberRoot(random.id()),
      .link(random.id(), random.id()), .epochWrap(random.id(), random.id()),
      .head(random.id(), random.id()),
      .object(random.id(), random.id()), .auditSegment(random.id(), first: Limits.number),
    ]
  }

  @Test func everyPathParsesBack() {
    for path in paths() { #expect(VaultPath(parsing: path.string) == path) }
  }

  @Test func otherSpellingsAreRefused() {
    for path in paths() where path != .vault {
      let text = path.string
      let others = [
        text.uppercased(), "/" + text, text + "/", text + "0", text + "x", "x" + text,
        text.replacing("/", with: "//"), text.replacing("closings/", with: "closings/0"),
        text.replacing("links/", with: "links/0"), "./" + text, text + "\u{301}",
      ]
      for other in others where other != text { #expect(VaultPath(parsing: other) == nil) }
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func whateverParsesIsSpelledJustSo(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let texts = paths().map { Array($0.string.utf8) }
    for _ in 0..<5_000 {
      var bytes = texts[random.number(below: texts.count)]
      for _ in 0..<random.number(below: 3) {
        let position = random.number(below: bytes.count)
        switch random.number(below: 3) {
        case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: position)
        default: bytes.insert(UInt8(ascii: "/"), at: position)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if let path = VaultPath(parsing: text) { #expect(path.string == text) }
    }
  }
}
