import Glibc
import SystemPackage

/// Other programs that are run and waited for. Never through fork: a copy of a threaded process cannot be trusted.
enum Program {
  /// Runs a program found in `PATH`, silent, and returns its status of wait(2).
  static func run(_ name: String, arguments: [String]) throws(MountError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    let words = CStringArray([name] + arguments)
    var process = pid_t()
    let failure = posix_spawnp(&process, name, &actions, nil, words.pointers, environ)
    guard failure == 0 else {
      throw MountError.system(call: "run", path: FilePath(name), errno: failure)
    }
    return waitForEnd(of: process)
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
