import Glibc
import Processes
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
    let report = try pipe()
    let secretPipe = try pipe()
    // The pipe is empty and takes this much at once, so the call neither blocks nor raises SIGPIPE.
    guard write(secretPipe.writing, secret.baseAddress, secret.count) == secret.count else {
      throw .system(call: "write", path: "secret pipe", errno: errno)
    }
    secretPipe.closeWriting()  // the child reads to the end
    let process = try start(
      arguments: arguments, report: report.writing, secret: secretPipe.reading)
    report.closeWriting()
    let words = try SmallFile.load(from: report.reading, path: "readiness pipe")
    switch ReadinessPipe.Report(decoding: words) {
    case .ready(let note):
      return note
    case .failed(let message):
      process.wait()
      throw .backgroundFailed(message: message)
    case nil:
      throw .backgroundDied(status: process.wait().code)
    }
  }

  private static func start(
    arguments: [String], report: Int32, secret: Int32
  ) throws(MountError) -> ChildProcess {
    var setup = ChildProcess.Setup()
    setup.files = [
      0: .nothing, 1: .nothing, 2: .nothing, ReadinessPipe.descriptor: .own(report),
      InheritedSecret.descriptor: .own(secret),
    ]
    setup.environment =
      ChildProcess.environment.filter { !$0.hasPrefix("\(ReadinessPipe.variable)=") } + [
        "\(ReadinessPipe.variable)=1"
      ]
    setup.keepsSignals = true
    do {
      return try ChildProcess(
        "/proc/self/exe", arguments, name: CommandLine.arguments.first ?? "kinvault", setup)
    } catch {
      throw .system(call: "posix_spawn", path: "/proc/self/exe", errno: error.errno)
    }
  }

  /// A pipe whose numbers are above those that the child expects.
  private static func pipe() throws(MountError) -> ProcessPipe {
    do { return try ProcessPipe(above: InheritedSecret.descriptor + 1) } catch {
      throw .system(call: "pipe", path: "", errno: error.errno)
    }
  }
}
