import BlobStore
import Glibc
import SystemPackage

/// The child's end of what `BackgroundLauncher` waits for.
package struct ReadinessPipe: ~Copyable {
  /// What the child says, once.
  package enum Report: Hashable, Sendable {
    /// - Parameter note: What the person is to know of what was found; empty if there is nothing.
    case ready(note: String)
    case failed(message: String)

    /// Nil for what is no whole report: the child ended without one.
    init?(decoding bytes: [UInt8]) {
      switch bytes.first {
      case UInt8(ascii: "R"):
        self = .ready(note: String(decoding: bytes.dropFirst(), as: UTF8.self))
      case UInt8(ascii: "F"):
        self = .failed(message: String(decoding: bytes.dropFirst(), as: UTF8.self))
      default: return nil
      }
    }

    var encoded: [UInt8] {
      switch self {
      case .ready(let note): [UInt8(ascii: "R")] + Array(note.utf8)
      case .failed(let message): [UInt8(ascii: "F")] + Array(message.utf8)
      }
    }
  }

  /// Marks in the environment that the descriptors are there; else a foreground process would write to strangers.
  static let variable = "KINVAULT_IN_BACKGROUND"
  static let descriptor: Int32 = 3

  /// The pipe when this process was started by `BackgroundLauncher`, else nil. Begins a session of its own, so that
  /// closing the terminal does not end the mount. Closes every other descriptor that came with the start, so that a
  /// shell that waits for our output or a lock is not kept waiting: to be called before the first one is opened.
  package static func inherited() -> ReadinessPipe? {
    guard getenv(variable) != nil else { return nil }
    unsetenv(variable)
    for kept in [descriptor, InheritedSecret.descriptor] {
      guard fcntl(kept, F_SETFD, FD_CLOEXEC) == 0 else { return nil }
    }
    let strangers = FolderNames.readable(in: "/proc/self/fd").compactMap {
      Int32(String(decoding: $0, as: UTF8.self))
    }
    for stranger in strangers where stranger > InheritedSecret.descriptor { close(stranger) }
    _ = setsid()
    return ReadinessPipe()
  }

  /// Says that the mount is usable, or why it is not, and lets the launcher return. Leaves the current folder, so
  /// that the process does not keep it from being unmounted: relative paths mean something else afterwards.
  package consuming func report(_ report: Report) {
    let bytes = report.encoded
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        write(Self.descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }  // the launcher was killed; the mount goes on
      sent += count
    }
    close(Self.descriptor)
    _ = chdir("/")
  }
}

/// The secret that `BackgroundLauncher` passed.
package enum InheritedSecret {
  static let descriptor: Int32 = 4

  /// Moves the secret into memory of the caller, who guards it, and returns its size; 0 when there is none.
  /// To be called at most once, after `ReadinessPipe.inherited()` returned a pipe.
  package static func read(into memory: UnsafeMutableRawBufferPointer) -> Int {
    var received = 0
    while received < memory.count {
      let count = Glibc.read(
        descriptor, memory.baseAddress?.advanced(by: received), memory.count - received)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      received += count
    }
    close(descriptor)
    return received
  }
}
