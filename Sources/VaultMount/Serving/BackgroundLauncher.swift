import Glibc
import SystemPackage

/// Starts this program once more, in the background, and returns when it says that it is ready.
///
/// The child gets the arguments, an environment like ours, a pipe for its report and, when there is one, a pipe that
/// holds the secret: a secret is never an argument, in the environment or on disk.
package enum BackgroundLauncher {
  /// What a secret may hold at most: what a pipe takes at once without a reader.
  package static let secretLimit = 4096

  /// Runs `/proc/self/exe` with these arguments (the program's name not among them) and waits for its report.
  ///
  /// Returns what the child has to say of what it found, empty as a rule. Throws `.backgroundFailed` with the child's own
  /// words, or `.backgroundDied`. The child must call `ReadinessPipe.inherited()` early and report exactly once.
  package static func launch(
    arguments: [String], secret: UnsafeRawBufferPointer
  ) throws(MountError) -> String {
    precondition(secret.count <= secretLimit, "a secret of \(secret.count) bytes")
    let report = try Pipe()
    let secretPipe = try Pipe()
    // The pipe is empty and takes this much at once, so the call neither blocks nor raises SIGPIPE.
    guard write(secretPipe.writing, secret.baseAddress, secret.count) == secret.count else {
      throw .system(call: "write", path: "secret pipe", errno: errno)
    }
    secretPipe.closeWriting()  // the child reads to the end
    let process = try spawn(
      arguments: arguments, report: report.writing, secret: secretPipe.reading)
    report.closeWriting()
    let words = try SmallFile.load(from: report.reading, path: "readiness pipe")
    switch ReadinessPipe.Report(decoding: words) {
    case .ready(let note):
      return note
    case .failed(let message):
      _ = Program.waitForEnd(of: process)
      throw .backgroundFailed(message: message)
    case nil:
      throw .backgroundDied(status: Program.waitForEnd(of: process))
    }
  }

  private static func spawn(
    arguments: [String], report: Int32, secret: Int32
  ) throws(MountError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor: Int32 in 0...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    // dup2 clears close-on-exec.
    posix_spawn_file_actions_adddup2(&actions, report, ReadinessPipe.descriptor)
    posix_spawn_file_actions_adddup2(&actions, secret, InheritedSecret.descriptor)

    let words = CStringArray([CommandLine.arguments.first ?? "kinvault"] + arguments)
    let variables = CStringArray(ownEnvironment() + ["\(ReadinessPipe.variable)=1"])
    var process = pid_t()
    let failure = posix_spawn(
      &process, "/proc/self/exe", &actions, nil, words.pointers, variables.pointers)
    guard failure == 0 else {
      throw .system(call: "posix_spawn", path: "/proc/self/exe", errno: failure)
    }
    return process
  }

  private static func ownEnvironment() -> [String] {
    var result: [String] = []
    var next = environ
    while let word = next.pointee {
      result.append(String(cString: word))
      next += 1
    }
    return result.filter { !$0.hasPrefix("\(ReadinessPipe.variable)=") }
  }
}

/// Two ends of a pipe that no other program inherits, closed at the latest with this object.
///
/// Their numbers are above those that the child expects, so that putting them there overwrites neither.
private final class Pipe {
  let reading: Int32
  private(set) var writing: Int32

  init() throws(MountError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw .system(call: "pipe", path: "", errno: errno) }
    let lowest = InheritedSecret.descriptor + 1
    reading = fcntl(ends[0], F_DUPFD_CLOEXEC, lowest)
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, lowest)
    close(ends[0])
    close(ends[1])
    guard reading >= 0, writing >= 0 else { throw .system(call: "dup", path: "", errno: errno) }
  }

  func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  deinit {
    closeWriting()
    if reading >= 0 { close(reading) }
  }
}
