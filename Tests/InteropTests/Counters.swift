/// How far the counters of devices have come, as the heads that count say it (section 9 of the format, "Counters"): a reader
/// that is no device and remembers nothing. What a version vector has above that waits.
struct Counters {
  /// Of devices of which a head counts.
  private var heads: [[UInt8]: UInt64] = [:]
  /// What heads say of any, in `cover`, `heard` and `reached`.
  private var told: [[UInt8]: UInt64] = [:]
  /// What devices that were taken over have in common with those that took them over.
  private var shared: [[UInt8]: UInt64] = [:]
  /// Whether its person has left a device out.
  private let isFormer: ([UInt8]) -> Bool
  /// Whether somebody who could ever write the member has certified a device.
  private let isWriter: ([UInt8]) -> Bool

  init(
    _ heads: [MemberHead], isFormer: @escaping ([UInt8]) -> Bool,
    isWriter: @escaping ([UInt8]) -> Bool
  ) throws {
    (self.isFormer, self.isWriter) = (isFormer, isWriter)
    for head in heads {
      self.heads[head.device] = head.counter
      for field: UInt64 in [3, 11, 12] {
        for said in try head.body.messages(field) {
          told[try said.bytes(1)] = max(told[try said.bytes(1), default: 0], try said.number(2))
        }
      }
      for branch in try head.body.messages(8) {
        let device = try branch.bytes(1)
        shared[device] = max(shared[device, default: 0], try branch.number(2))
      }
    }
  }

  /// Whether an entry with this version vector waits for heads that have not come, or never were.
  func holdUp(_ version: [[UInt8]: UInt64]) -> Bool {
    version.contains { device, counter in counter > limit(of: device) && !isFormer(device) }
  }

  private func limit(of device: [UInt8]) -> UInt64 {
    let common = shared[device, default: 0]
    if let own = heads[device] { return max(own, common) }
    return isWriter(device) ? max(told[device, default: 0], common) : 0
  }
}

/// A head of a member that counts, opened.
struct MemberHead {
  let device: [UInt8]
  let counter: UInt64
  /// A `Head`.
  let body: WireMessage
}
