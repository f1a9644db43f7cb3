import BlobStore
import Synchronization
import TestSupport

/// A remote that delays, reorders, repeats, tears and fails what it is asked, as a seed has it, until it is `calm`.
final class UnreliableStore: InspectingStore {
  private struct State {
    var random: SplitMix64
    /// In percent of calls.
    var trouble = 0
    /// Accepted, and not to be seen yet.
    var onTheirWay: [(path: BlobPath, bytes: [UInt8])] = []
    /// After so many calls more nothing answers.
    var callsLeft = Int.max
    var interruption: (callsLeft: Int, happen: @Sendable () -> Void)?
  }

  let memory: MemoryStore
  var inner: any LocalStore { memory }
  private let state: Mutex<State>

  /// A calm one.
  init(_ memory: MemoryStore = MemoryStore(), seed: UInt64) {
    self.memory = memory
    state = Mutex(State(random: SplitMix64(seed: seed)))
  }

  /// From now on so many of a hundred calls go wrong.
  func stir(percent: Int) { state.withLock { $0.trouble = percent } }

  /// The network breaks after so many calls; nil: it works again.
  func breakOff(after calls: Int?) { state.withLock { $0.callsLeft = calls ?? .max } }

  /// After so many calls more something happens, once; before, if `nil` is told, it does not.
  func interrupt(after calls: Int, _ happen: (@Sendable () -> Void)?) {
    state.withLock { state in state.interruption = happen.map { (calls, $0) } }
  }

  /// What happens now, while nothing is locked.
  private var interruption: (@Sendable () -> Void)? {
    state.withLock { state in
      guard let (left, happen) = state.interruption else { return nil }
      state.interruption = left > 0 ? (left - 1, happen) : nil
      return left > 0 ? nil : happen
    }
  }

  /// From now on it does what it is asked, and what was on its way is there.
  func calm() throws {
    let late = state.withLock { state in
      state.trouble = 0
      state.callsLeft = .max
      defer { state.onTheirWay = [] }
      return state.onTheirWay.shuffled(using: &state.random)
    }
    for (path, bytes) in late { try memory.put(path, bytes) }
  }

  /// All files are as they were at some moment.
  func goBack(to backup: [BlobPath: [UInt8]]) throws(BlobStoreError) {
    for path in memory.blobs.keys where backup[path] == nil { try memory.remove(path) }
    for (path, bytes) in backup { try memory.put(path, bytes) }
  }

  private enum Fate { case works, fails(BlobStoreError), repeated, lostReply, torn, late }

  private func fate(of path: BlobPath, isPut: Bool) throws(BlobStoreError) -> Fate {
    interruption?()
    let (fate, arrived) = state.withLock { state -> (Fate, (path: BlobPath, bytes: [UInt8])?) in
      state.callsLeft -= 1
      if state.callsLeft < 0 {
        return (.fails(.unreachable(path: path.string, reason: "cut")), nil)
      }
      var arrived: (path: BlobPath, bytes: [UInt8])?
      if let index = state.onTheirWay.indices.randomElement(using: &state.random),
        Int.random(in: 0..<4, using: &state.random) == 0
      {
        arrived = state.onTheirWay.remove(at: index)
      }
      guard Int.random(in: 0..<100, using: &state.random) < state.trouble else {
        return (.works, arrived)
      }
      switch Int.random(in: 0..<(isPut ? 7 : 3), using: &state.random) {
      case 0: return (.fails(.timedOut(path: path.string)), arrived)
      case 1: return (.fails(.throttled(path: path.string)), arrived)
      case 2: return (.fails(.unreachable(path: path.string, reason: "seed")), arrived)
      case 3: return (.lostReply, arrived)
      case 4: return (.repeated, arrived)
      case 5: return (.torn, arrived)
      default: return (.late, arrived)
      }
    }
    if let arrived { try memory.put(arrived.path, arrived.bytes) }
    return fate
  }

  func inspect(_ call: StoreCall) throws(BlobStoreError) {
    if case .fails(let error) = try fate(of: call.path, isPut: false) { throw error }
  }

  func put(
    _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
  ) throws(BlobStoreError) {
    switch try fate(of: path, isPut: true) {
    case .works: try memory.put(path, bytes, condition)
    case .fails(let error): throw error
    case .lostReply:
      try memory.put(path, bytes, condition)
      throw .timedOut(path: path.string)
    case .repeated:
      try memory.put(path, bytes, condition)
      try memory.put(path, bytes, .always)
    case .torn:
      // As a server that is no good leaves it.
      try memory.put(path, UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)]), condition)
      throw .unreachable(path: path.string, reason: "torn")
    case .late:
      let copy = Array(bytes)
      state.withLock { $0.onTheirWay.append((path, copy)) }
    }
  }
}
