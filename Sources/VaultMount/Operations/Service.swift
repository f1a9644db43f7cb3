import CFuse
import Dispatch
import Synchronization
import Threads
import VaultFiles

/// What every callback finds behind its request: the tree and how long the kernel may remember its answers.
final class Service: Sendable {
  let tree: FileTree
  let activity = Activity()
  let pageCache = PageCache()
  /// Writes and other changes that wait for a remote: what their programs are told is written has to be in the last commit.
  let waitingWrites = DispatchGroup()

  /// The tree tells of every change that the kernel does not make itself, so answers hold until then.
  let timeout: Double = 86400

  /// The number of the kernel's first request, whose reply says what we can do, when it offered to let us drop
  /// set-user-id bits; else 0.
  let negotiation = Atomic<UInt64>(0)

  /// Whether the first reply has gone out: any request that reached a callback comes after it.
  var isNegotiated: Bool { activity.requestCount > 0 }

  init(tree: FileTree) { self.tree = tree }

  /// Runs what may wait for a remote on a thread of its own; on this one where no other is to be had.
  func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
    // It is there for as long as somebody has to answer.
    let session = pageCache.session
    let isStarted = SystemThread.detach {
      body()
      withExtendedLifetime(session) {}
    }
    if !isStarted { body() }
  }

  /// Runs what changes something on another thread, as `onAnotherThread` does; the last commit waits for it.
  func changeOnAnotherThread(_ body: @escaping @Sendable () -> Void) {
    let waiting = waitingWrites
    waiting.enter()
    onAnotherThread {
      body()
      waiting.leave()
    }
  }

  /// Makes a change that needs what a lazy vault keeps elsewhere on another thread, and answers it there.
  ///
  /// - Parameter change: Makes it and replies; where it throws it has not replied.
  func answerFromAfar(
    _ request: fuse_req_t, _ change: @escaping @Sendable (fuse_req_t) throws(FileError) -> Void
  ) {
    let change = ChangeFromAfar(request: request, change: change)
    changeOnAnotherThread { change.answer() }
  }

  /// Answers a close or a sync, now or, where it has to wait for a remote, from another thread.
  ///
  /// - Parameters:
  ///   - isDoneHere: Does it without waiting for a remote; false where that has something which this needs.
  ///   - sync: The same, as long as it may take.
  func answer(
    _ request: fuse_req_t, _ isDoneHere: () throws(FileError) -> Bool,
    orFromAfar sync: @escaping @Sendable () throws(FileError) -> Void
  ) throws(FileError) {
    if try isDoneHere() {
      fuse_reply_err(request, 0)
    } else {
      let sync = SyncFromAfar(request: request, sync: sync)
      onAnotherThread { sync.answer() }
    }
  }
}

/// Answers a request: runs the closure, which replies when it succeeds, and replies with the error when it throws.
///
/// Every request gets exactly one reply, so nothing may throw after replying.
func answer(_ request: fuse_req_t?, _ body: (fuse_req_t, Service) throws(FileError) -> Void) {
  // libfuse always passes a request; without one there is nobody to answer.
  guard let request, let context = fuse_req_userdata(request) else { return }
  let service = Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
  service.activity.noteRequest()
  do {
    try body(request, service)
  } catch {
    fuse_reply_err(request, error.errno)
  }
}

/// Makes an object's address travel through the kernel as the number of a handle, and back.
///
/// The number holds one reference, from the reply that opened the handle until its release, and only the kernel
/// of this machine sees it.
enum HandleNumber {
  static func retaining(_ handle: some AnyObject) -> UInt64 {
    UInt64(UInt(bitPattern: Unmanaged.passRetained(handle).toOpaque()))
  }

  /// What a request was made through.
  static func object<Handle: AnyObject>(
    _ info: UnsafeMutablePointer<fuse_file_info>?, as type: Handle.Type
  ) throws(FileError) -> Handle {
    guard let info, let address = UnsafeRawPointer(bitPattern: UInt(info.pointee.fh)) else {
      throw .badHandle
    }
    return Unmanaged<Handle>.fromOpaque(address).takeUnretainedValue()
  }

  static func releasing<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type) -> Handle? {
    UnsafeRawPointer(bitPattern: UInt(number)).map {
      Unmanaged<Handle>.fromOpaque($0).takeRetainedValue()
    }
  }
}

/// The file that a request was made through.
func fileHandle(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(FileError) -> FileHandle {
  try HandleNumber.object(info, as: FileHandle.self)
}
