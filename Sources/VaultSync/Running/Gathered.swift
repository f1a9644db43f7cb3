import Threads

/// What several threads found.
final class Gathered<Value: Sendable>: Sendable {
  private let values = Guarded<[Value]>([])

  func add(_ value: Value) { values.withLock { $0.append(value) } }

  var all: [Value] { values.withLock { $0 } }
}
