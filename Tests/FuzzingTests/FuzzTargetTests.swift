import Fuzzing
import Testing

/// The bounded run of every decoder; `Scripts/fuzz` runs them for as long as one likes, and follows what they cover.
@Suite struct FuzzTargetTests {
  @Test func everyTargetHasANameOfItsOwnAndTakesItsSeeds() throws {
    let targets = try FuzzTarget.all()
    #expect(Set(targets.map(\.name)).count == targets.count)
    for target in targets {
      #expect(!target.seeds.isEmpty, "\(target.name)")
      for seed in target.seeds { try target.run(seed) }
    }
  }

  @Test(arguments: try FuzzTarget.all().map(\.name))
  func hostileBytesAreRefusedOrDecodeToSomethingStable(name: String) throws {
    let target = try #require(try FuzzTarget.all().first { $0.name == name })
    var random = SeededRandom(seed: 1)
    probe(target, [])
    for _ in 0..<100 { probe(target, random.bytes(random.number(below: 80))) }
    for valid in target.seeds {
      for count in 0..<min(valid.count, 300) { probe(target, Array(valid.prefix(count))) }
      for _ in 0..<300 { probe(target, random.mutation(of: valid)) }
    }
  }

  @Test func aServersNamesThatAreNotTextAreRefused() throws {
    let target = try #require(try FuzzTarget.all().first { $0.name == "xml-reply" })
    try target.run(Array("<a><b".utf8) + [0xff] + Array("c>x</b></a>".utf8))
  }

  private func probe(_ target: FuzzTarget, _ bytes: [UInt8]) {
    do { try target.run(bytes) } catch { Issue.record("\(target.name): \(bytes) \(error)") }
  }
}

extension SeededRandom {
  fileprivate mutating func mutation(of valid: [UInt8]) -> [UInt8] {
    var bytes = valid
    for _ in 0...number(below: 3) where !bytes.isEmpty {
      let position = number(below: bytes.count)
      switch number(below: 5) {
      case 0: bytes[position] ^= 1 << UInt8(number(below: 8))
      case 1: bytes[position] = [0, 0x7f, 0x80, 0xff][number(below: 4)]
      case 2: bytes.remove(at: position)
      case 3: bytes.insert(contentsOf: bytes[position...].prefix(20), at: position)
      default: bytes.replaceSubrange(position..., with: self.bytes(12))
      }
    }
    return bytes
  }
}
