import CLinux
import Glibc

/// An open file descriptor, closed when it goes out of scope.
struct Descriptor: ~Copyable {
  let number: Int32

  /// Takes over what a call of CLinux returned: a descriptor, or -errno.
  init(_ returned: Int32, path: String) throws(BlobStoreError) {
    guard returned >= 0 else { throw BlobStoreError(errno: -returned, path: path) }
    number = returned
  }

  deinit {
    Glibc.close(number)
  }

  /// Closes it and says what only closing tells: on network file systems, that a write did not arrive.
  consuming func close(path: String) throws(BlobStoreError) {
    let returned = Glibc.close(number)
    let error = errno
    discard self
    // After EINTR Linux has closed it all the same.
    if returned < 0 && error != EINTR { throw BlobStoreError(errno: error, path: path) }
  }

  /// Gives the descriptor away; whoever takes it closes it.
  consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  func status(path: String) throws(BlobStoreError) -> stat {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw BlobStoreError(errno: errno, path: path) }
    return status
  }

  /// The size of a regular file; anything else is no blob.
  func blobSize(path: String) throws(BlobStoreError) -> UInt64 {
    let status = try status(path: path)
    guard status.st_mode & S_IFMT == S_IFREG else { throw .notABlob(path: path) }
    return UInt64(status.st_size)
  }

  /// Fills the buffer from `offset` on, unless the file ends before; returns the number of bytes read.
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer, path: String)
    throws(BlobStoreError) -> Int
  {
    guard let base = buffer.baseAddress, let start = off_t(exactly: offset) else { return 0 }
    var done = 0
    while done < buffer.count {
      let count = pread(number, base + done, buffer.count - done, start + off_t(done))
      if count == 0 { break }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        throw BlobStoreError(errno: errno, path: path)
      }
    }
    return done
  }

  /// `count` bytes from `offset` on, or what there is of them.
  func read(at offset: UInt64, count: Int, path: String) throws(BlobStoreError) -> [UInt8] {
    var failure: BlobStoreError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      do throws(BlobStoreError) {
        initializedCount = try read(
          at: offset, into: UnsafeMutableRawBufferPointer(buffer), path: path)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  func write(_ bytes: UnsafeRawBufferPointer, path: String) throws(BlobStoreError) {
    guard let base = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      let count = Glibc.write(number, base + done, bytes.count - done)
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        throw BlobStoreError(errno: errno, path: path)
      }
    }
  }

  func write(
    _ bytes: UnsafeRawBufferPointer, at offset: UInt64, path: String
  ) throws(BlobStoreError) {
    guard let base = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      let start = off_t(clamping: offset) + off_t(done)
      let count = pwrite(number, base + done, bytes.count - done, start)
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        throw BlobStoreError(errno: errno, path: path)
      }
    }
  }

  /// `fdatasync`: contents are on disk, and attributes as far as they are needed to read them.
  func syncData(path: String) throws(BlobStoreError) {
    while fdatasync(number) != 0 {
      let error = errno
      guard error == EINTR else { throw BlobStoreError(errno: error, path: path) }
    }
  }

  /// `fsync`: contents and attributes of a file, or the names in a folder, are on disk.
  func sync(path: String) throws(BlobStoreError) {
    while fsync(number) != 0 {
      let error = errno
      guard error == EINTR else { throw BlobStoreError(errno: error, path: path) }
    }
  }
}

/// Calls again what a signal interrupted; for calls that return -errno.
func retryingInterrupted<Returned: SignedInteger>(_ call: () -> Returned) -> Returned {
  var returned: Returned
  repeat { returned = call() } while returned == -Returned(EINTR)
  return returned
}

/// Makes a plain system call, which returns -1 and sets `errno`, again while a signal interrupts it; returns 0 or -errno.
func errorOf(_ call: () -> Int32) -> Int32 {
  while call() < 0 {
    let error = errno
    if error != EINTR { return -error }
  }
  return 0
}
