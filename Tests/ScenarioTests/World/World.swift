import BlobStore
import Synchronization
import TestSupport
import VaultSync

/// Everything that a scenario is about: devices, remotes and the time.
final class World {
  /// 2026-03-01 08:00:00 UTC, in milliseconds: when every scenario begins.
  static let beginning: UInt64 = 1_772_352_000_000

  let devices: [Device]
  let remotes: [String: Remote]
  /// Where everyone syncs unless another one is named.
  let firstRemote: Remote
  let time: WorldTime
  /// What attached files are called in scenarios, by their bytes.
  private(set) var labels: [[UInt8]: String] = [:]
  /// The 24 words that each person has on paper.
  var words: [String: String]
  /// The ones they had before.
  var formerWords: [String: String] = [:]

  init(_ scenario: Scenario) throws {
    let cast = try Cast.of(scenario)
    words = cast.words
    let names = scenario.remotes.isEmpty ? ["cloud"] : scenario.remotes
    let all = names.map { Remote($0) }
    remotes = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    firstRemote = all[0]
    let time = WorldTime(Self.beginning)
    self.time = time
    devices = try cast.seats.map { try Device($0, of: cast.vault, in: time) }
    try meet(devices, at: firstRemote)
    time.now = Self.beginning
  }

  /// The devices of these names, of these people's, or all for `everyone`.
  func devices(
    _ names: [String], _ sentence: Sentence
  ) throws(ScenarioError) -> [Device] {
    var found: [Device] = []
    for name in names {
      let named = devices.filter {
        name == "everyone" || $0.name == name || $0.person == name
      }
      guard !named.isEmpty else {
        let known = devices.map(\.name) + remotes.keys.sorted()
        throw sentence.wrong("“\(name)” is none of \(known.joined(separator: ", "))")
      }
      found += named
    }
    return found
  }

  func remote(_ name: String, _ sentence: Sentence) throws(ScenarioError) -> Remote {
    guard let remote = remotes[name] else {
      throw sentence.wrong("there is no remote “\(name)”")
    }
    return remote
  }

  /// Every step takes a second, so that what stands later in a scenario is later.
  func tick() { time.now += 1000 }

  /// These devices, of all only those that can, sync with a remote one after the other until nothing moves any more.
  func meet(_ named: [Device], at remote: Remote) throws {
    let isEveryone = named.count == devices.count
    let present = isEveryone ? named.filter { $0.canReach(remote) && !$0.isLocked } : named
    for _ in 0..<8 {
      var isAtRest = true
      for device in present {
        // Who has to say something first, or was removed, does not keep the others from meeting.
        guard let report = try device.sync(remote) else { continue }
        if !report.pulled.isEmpty || !report.pushed.isEmpty { isAtRest = false }
        tick()
      }
      if isAtRest { return }
    }
    throw NoRest(names: present.map(\.name))
  }

  struct NoRest: Error, CustomStringConvertible {
    let names: [String]
    var description: String { "\(names.joined(separator: ", ")) do not come to rest" }
  }

  // MARK: Attached files

  /// The bytes of an attached file of this name and size, the same each time.
  func attachment(_ label: String, byteCount: Int) -> [UInt8] {
    var seed: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in label.utf8 { seed = (seed ^ UInt64(byte)) &* 0x100_0000_01b3 }
    var random = SplitMix64(seed: seed)
    // Few random bytes a chunk are enough to tell the chunks apart.
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: byteCount)
    for start in stride(from: 0, to: byteCount, by: 1 << 20) {
      for (offset, byte) in random.bytes(min(16, byteCount - start)).enumerated() {
        bytes[start + offset] = byte
      }
    }
    labels[bytes] = label
    return bytes
  }

  /// What a file's content is called in a scenario.
  func shown(_ bytes: [UInt8]) -> String {
    if let label = labels[bytes] { return "<\(label)>" }
    var text = String(decoding: bytes, as: UTF8.self)
    if text.last == "\n" { text.removeLast() }
    return text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
  }
}

/// The time that all right clocks show, in milliseconds since 1970.
final class WorldTime: Sendable {
  private let value: Mutex<UInt64>
  init(_ now: UInt64) { value = Mutex(now) }

  var now: UInt64 {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}
