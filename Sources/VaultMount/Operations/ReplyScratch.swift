import Glibc
import Synchronization

/// Page-aligned memory of the calling thread, in which a reply is put together.
///
/// One piece per thread of the loop, kept until the thread ends: an allocation per read costs more than the read.
/// Nothing in it is zeroed between requests; a reply only sends what its request filled.
enum ReplyScratch {
  /// What the kernel asks for at most in one read.
  static let usualByteCount = 1 << 20

  /// Runs the closure with at least this much memory. Not reentrant: one reply is put together at a time.
  static func with<Result, Failure: Error>(
    byteCount: Int, _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeMutableRawBufferPointer(rebasing: memory(byteCount: byteCount)[..<byteCount]))
  }

  private static func memory(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    if let known = pthread_getspecific(key) {
      let piece = known.assumingMemoryBound(to: UnsafeMutableRawBufferPointer.self)
      if piece.pointee.count >= byteCount { return piece.pointee }
      free(piece.pointee.baseAddress)
      piece.pointee = allocate(byteCount: byteCount)
      return piece.pointee
    }
    let piece = UnsafeMutablePointer<UnsafeMutableRawBufferPointer>.allocate(capacity: 1)
    piece.initialize(to: allocate(byteCount: max(byteCount, usualByteCount)))
    pthread_setspecific(key, piece)
    return piece.pointee
  }

  private static func allocate(byteCount: Int) -> UnsafeMutableRawBufferPointer {
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, 4096, byteCount) == 0 else {
      preconditionFailure("out of memory for \(byteCount) bytes")
    }
    return UnsafeMutableRawBufferPointer(start: memory, count: byteCount)
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { context in
      guard let context else { return }
      let piece = context.assumingMemoryBound(to: UnsafeMutableRawBufferPointer.self)
      free(piece.pointee.baseAddress)
      piece.deallocate()
    }
    guard status == 0 else { preconditionFailure("no thread-specific key: \(status)") }
    return key
  }()
}
