import Synchronization

/// Whether anyone uses the mount: how many requests came, how many files and directories are open.
final class Activity: Sendable {
  private let requests = Atomic<UInt64>(0)
  private let handles = Atomic<Int>(0)

  func noteRequest() { requests.add(1, ordering: .relaxed) }
  func noteOpened() { handles.add(1, ordering: .relaxed) }
  func noteReleased() { handles.subtract(1, ordering: .relaxed) }

  var requestCount: UInt64 { requests.load(ordering: .relaxed) }
  var hasOpenHandles: Bool { handles.load(ordering: .relaxed) > 0 }
}
