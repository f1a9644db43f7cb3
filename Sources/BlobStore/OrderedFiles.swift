import CLinux
import Glibc
import Threads

/// The files made since the last barrier, on a file system that keeps its changes in order by itself.
///
/// A journal (ext4's, with `barrier`, which is the default) commits changes of names, sizes and blocks in the order in
/// which they were made. Once the *data* of new files have been written back, every later transaction thus
/// reaches the disk after them, and a barrier needs neither a flush nor a commit of its own: the one `fsync` of the
/// folder that follows pays for all. `syncfs` would also wait for whatever other programs have written.
/// See Documentation/filesystems/ext4/journal.rst of the kernel.
final class OrderedFiles: Sendable {
  private struct State: ~Copyable {
    var descriptors: [Int32] = []
    /// More were made than are kept open: only `syncfs` knows them all.
    var isOverflowing = false
  }

  /// Beyond this many, writing back everything at once is cheaper.
  private static let limit = 64

  private let state = Guarded(State())

  deinit {
    for number in state.withLock({ $0.descriptors }) { close(number) }
  }

  /// Takes over a descriptor, whose data are written; false if it is not needed any more.
  func keep(_ number: Int32) -> Bool {
    state.withLock { state in
      guard state.descriptors.count < Self.limit else {
        state.isOverflowing = true
        return false
      }
      state.descriptors.append(number)
      return true
    }
  }

  /// Waits until the data of all files since the last barrier are written back.
  ///
  /// - Returns: 0, -errno, or nil if there were too many: then nothing was done.
  func finish() -> Int32? {
    let (numbers, isOverflowing) = state.withLock { state in
      let taken = (state.descriptors, state.isOverflowing)
      state.descriptors = []
      state.isOverflowing = false
      return taken
    }
    defer { for number in numbers { close(number) } }
    if isOverflowing { return nil }
    for number in numbers { _ = kv_start_writeback(number, 0, 0) }
    for number in numbers {
      let error = retryingInterrupted { kv_finish_writeback(number) }
      if error < 0 { return error }
    }
    return 0
  }

  /// For a folder of a journaled ext4; nil for any other.
  static func make(for folder: Int32) -> OrderedFiles? {
    var (major, minor): (UInt32, UInt32) = (0, 0)
    guard kv_is_ext(folder, &major, &minor) == 1, let device = blockDeviceName(major, minor) else {
      return nil
    }
    // Says which thread writes the journal, or `<none>`.
    guard let task = firstLine(of: "/sys/fs/ext4/\(device)/journal_task"),
      Int32(task).map({ $0 > 0 }) == true
    else { return nil }
    return OrderedFiles()
  }

  /// `vda1`, `dm-0`, `loop3`: the last part of where `/sys/dev/block/<major>:<minor>` points.
  private static func blockDeviceName(_ major: UInt32, _ minor: UInt32) -> String? {
    let link = "/sys/dev/block/\(major):\(minor)"
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = readlink(link, &buffer, buffer.count)
    guard count > 0 else { return nil }
    let target = String(decoding: buffer[..<count], as: UTF8.self)
    return target.split(separator: "/").last.map(String.init)
  }

  private static func firstLine(of path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(file, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
