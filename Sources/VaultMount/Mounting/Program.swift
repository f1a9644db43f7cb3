import Glibc
import Processes
import SystemPackage

/// Other programs that are run and waited for.
enum Program {
  /// Runs a program found in `PATH`, without input and output.
  ///
  /// - Returns: How it ended, and the beginning of what it said on standard error, on one line.
  static func run(
    _ name: String, arguments: [String]
  ) throws(MountError) -> (ending: ChildProcess.Ending, errors: String) {
    let pipe: ProcessPipe
    do { pipe = try ProcessPipe() } catch {
      throw .system(call: "pipe", path: FilePath(name), errno: error.errno)
    }
    defer { pipe.closeReading() }
    var setup = ChildProcess.Setup()
    setup.files = [0: .nothing, 1: .nothing, 2: .own(pipe.writing)]
    let process: ChildProcess
    do { process = try ChildProcess(name, arguments, setup) } catch {
      throw .system(call: "run", path: FilePath(name), errno: error.errno)
    }
    pipe.closeWriting()
    let errors = line(from: pipe.reading)
    return (process.wait(), errors)
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
}
