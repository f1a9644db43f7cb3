import CLinux
import Glibc
import SystemPackage

/// Other programs that are run and waited for. Never through fork: a copy of a threaded process cannot be trusted.
enum Program {
  /// Runs a program found in `PATH`, without input and output.
  ///
  /// - Returns: Its status of wait(2), and the beginning of what it said on standard error, on one line.
  static func run(
    _ name: String, arguments: [String]
  ) throws(MountError) -> (status: Int32, errors: String) {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var ends: [Int32] = [-1, -1]
    let noPipe = kv_pipe(&ends)
    guard noPipe == 0 else {
      throw MountError.system(call: "pipe", path: FilePath(name), errno: noPipe)
    }
    defer { close(ends[0]) }
    for descriptor: Int32 in 0...1 {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    let words = CStringArray([name] + arguments)
    var process = pid_t()
    let failure = posix_spawnp(&process, name, &actions, nil, words.pointers, environ)
    close(ends[1])
    guard failure == 0 else {
      throw MountError.system(call: "run", path: FilePath(name), errno: failure)
    }
    let errors = line(from: ends[0])
    return (waitForEnd(of: process), errors)
  }

  /// What comes from a pipe until nobody writes to it any more, as far as it is text for a message.
  private static func line(from descriptor: Int32) -> String {
    var kept: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      if kept.count < buffer.count { kept += buffer[..<count] }
    }
    let lines = kept.prefix(buffer.count).split { $0 < 0x20 || $0 == 0x7f }
    return lines.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "; ")
  }

  /// The status of wait(2) of a child that has ended or will.
  static func waitForEnd(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}

/// Words as C takes them for a command: a null-terminated array of C strings, alive as long as this object.
final class CStringArray {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ words: [String]) {
    count = words.count
    pointers = .allocate(capacity: words.count + 1)
    for (index, word) in words.enumerated() {
      pointers.advanced(by: index).initialize(to: strdup(word))
    }
    pointers.advanced(by: words.count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}
