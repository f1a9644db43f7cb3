import Glibc
import SystemPackage

/// The file `failures` in a vault's state: what fails where nobody looks, the newest first. Docs/Format.md, "This machine's
/// state".
///
/// Several processes share it. It has its whole length from the beginning and is written over in place, so that it can be
/// written on a full disk, too. What cannot be written all the same costs the report and nothing else.
package struct FailureFile: Sendable {
  /// So long nobody is told of something that nothing has run into since.
  package static let lifetime: UInt64 = 7 * 24 * 3_600_000
  private static let byteCount = 4096

  private let path: FilePath
  private let milliseconds: @Sendable () -> UInt64

  package init(
    stateFolder: FilePath,
    milliseconds: @escaping @Sendable () -> UInt64 = { LogClock.milliseconds() }
  ) {
    path = stateFolder.appending("failures")
    self.milliseconds = milliseconds
  }

  /// What fails, the newest first; empty where there is no such file.
  package func load() -> [KeptFailure] {
    let descriptor = path.withPlatformString { open($0, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    flock(descriptor, LOCK_SH)
    return read(descriptor)
  }

  /// Takes out what has failed with this kind of error, as a person has settled what it came of. What fails with it all the same
  /// is noted anew.
  package func forget(_ kind: String) {
    guard load().contains(where: { $0.kind == kind }) else { return }
    update { failures in failures.removeAll { $0.kind == kind } }
  }

  /// Gives the file its length while there is room for it.
  func prepare() { update { _ in } }

  func update(_ change: (inout [KeptFailure]) -> Void) {
    let descriptor = path.withPlatformString {
      open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    }
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    flock(descriptor, LOCK_EX)
    var failures = read(descriptor)
    change(&failures)
    var bytes: [UInt8] = []
    for line in failures.map(\.line) where bytes.count + line.utf8.count < Self.byteCount {
      bytes += Array(line.utf8) + [UInt8(ascii: "\n")]
    }
    bytes += repeatElement(UInt8(ascii: "\n"), count: Self.byteCount - bytes.count)
    pwrite(descriptor, bytes, bytes.count, 0)
  }

  private func read(_ descriptor: Int32) -> [KeptFailure] {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    let now = milliseconds()
    return bytes.prefix(max(0, count)).split(separator: UInt8(ascii: "\n")).compactMap {
      KeptFailure(line: Substring(decoding: $0, as: UTF8.self))
    }.filter { now < $0.last || now - $0.last < Self.lifetime }
  }
}

/// The time of this machine.
package enum LogClock {
  /// Since 1970.
  package static func milliseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) * 1000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
