import Glibc
import SystemPackage
import Threads
import VaultFiles

/// Lets other processes of this user have the mount commit: the socket `mounts/<process>-<number>.commit` beside the
/// mount's file. Docs/Format.md, "This machine's state".
///
/// Whoever connects is answered with one line when everything that was changed in the mount before is committed: `0`, or
/// the error number of what could not be.
final class CommitSocket: Sendable {
  static let suffix = ".commit"

  private let path: FilePath
  private let descriptor: Int32
  private let thread: MountThread

  /// - Parameter registered: The mount's own file, whose lock this process holds.
  init(
    beside registered: FilePath, commit: @escaping @Sendable () throws(FileError) -> Void
  ) throws(MountError) {
    let path = FilePath(registered.string + Self.suffix)
    let descriptor = try UnixSocket.make()
    _ = path.withPlatformString { unlink($0) }  // of a process that was killed
    let isBound = try UnixSocket.withAddress(of: path) { bind(descriptor, $0, $1) }
    guard isBound == 0, listen(descriptor, 16) == 0 else {
      let reason = errno
      close(descriptor)
      throw .system(call: "bind", path: path, errno: reason)
    }
    (self.path, self.descriptor) = (path, descriptor)
    thread = MountThread {
      while let caller = CommitSocket.accept(on: descriptor) {
        var answer: Int32 = 0
        do throws(FileError) { try commit() } catch { answer = error.errno }
        let line = Array("\(answer)\n".utf8)
        // A caller that has gone away does not want to know.
        _ = send(caller, line, line.count, Int32(MSG_NOSIGNAL))
        close(caller)
      }
    }
  }

  /// The next caller; nil when the socket was shut down.
  private static func accept(on descriptor: Int32) -> Int32? {
    while true {
      let caller = Glibc.accept(descriptor, nil, nil)
      if caller >= 0 {
        _ = fcntl(caller, F_SETFD, FD_CLOEXEC)
        return caller
      }
      switch errno {
      case EINTR, ECONNABORTED: continue
      // No descriptor is free at the moment.
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: SystemThread.pause(for: .milliseconds(100))
      default: return nil
      }
    }
  }

  /// Answers those who wait and nobody after them.
  func end() {
    _ = path.withPlatformString { unlink($0) }
    shutdown(descriptor, Int32(SHUT_RDWR))
    thread.join()
    close(descriptor)
  }
}

/// A stream socket with a place in the file system.
enum UnixSocket {
  static func make() throws(MountError) -> Int32 {
    let descriptor = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .system(call: "socket", path: "", errno: errno) }
    return descriptor
  }

  /// Calls `body` with the address of a path of any length: by way of its open folder, for an address holds 108 bytes.
  static func withAddress(
    of path: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(MountError) -> Int32 {
    let folder = path.removingLastComponent()
    let opened = folder.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard opened >= 0 else { throw .system(call: "open", path: folder, errno: errno) }
    defer { close(opened) }
    let short = "/proc/self/fd/\(opened)/\(path.lastComponent?.string ?? "")"
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    precondition(short.utf8.count < room, "the name of a socket is short")
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(short.utf8)) }
    return withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
