import CFuse
import Dispatch
import Synchronization
import VaultFiles

/// What every callback finds behind its request: the tree and how long the kernel may remember its answers.
final class Service: Sendable {
  let tree: FileTree
  let activity = Activity()
  let pageCache = PageCache()
  /// Writes that wait for a remote: what their programs are told is written has to be in the last commit.
  let waitingWrites = DispatchGroup()

  /// The tree tells of every change that the kernel does not make itself, so answers hold until then.
  let timeout: Double = 86400

  /// The number of the kernel's first request, whose reply says what we can do, when it offered to let us drop
  /// set-user-id bits; else 0.
  let negotiation = Atomic<UInt64>(0)

  /// Whether the first reply has gone out: any request that reached a callback comes after it.
  var isNegotiated: Bool { activity.requestCount > 0 }

  init(tree: FileTree) { self.tree = tree }

  /// Answers what has to wait for a remote, on another thread.
  func answerFromAfar(
    _ request: fuse_req_t, _ sync: @escaping @Sendable () throws(FileError) -> Void
  ) {
    SyncFromAfar(request: request, sync: sync, session: pageCache.session).begin()
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

  static func object<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type) -> Handle? {
    UnsafeRawPointer(bitPattern: UInt(number)).map {
      Unmanaged<Handle>.fromOpaque($0).takeUnretainedValue()
    }
  }

  static func releasing<Handle: AnyObject>(_ number: UInt64, as type: Handle.Type) -> Handle? {
    UnsafeRawPointer(bitPattern: UInt(number)).map {
      Unmanaged<Handle>.fromOpaque($0).takeRetainedValue()
    }
  }
}

/// The file that a request was made through.
func fileHandle(_ info: UnsafeMutablePointer<fuse_file_info>?) throws(FileError) -> FileHandle {
  guard let info, let handle = HandleNumber.object(info.pointee.fh, as: FileHandle.self) else {
    throw .badHandle
  }
  return handle
}
