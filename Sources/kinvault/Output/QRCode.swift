import Glibc
import Processes

/// QR codes, which the program `qrencode` draws. It gets the text through a pipe: arguments can be seen by everyone.
enum QRCode {
  /// Draws it on standard output.
  ///
  /// - Throws: `unsupported` where there is no `qrencode`.
  static func draw(_ text: String) throws(CommandError) {
    try run(text, ["-t", "UTF8", "-o", "-"], standardOutput: STDOUT_FILENO)
  }

  /// Saves it as a new PNG file that only its owner can read.
  ///
  /// - Throws: `alreadyExists`; `unsupported` where there is no `qrencode`.
  static func save(_ text: String, to path: String) throws(CommandError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      if errno == EEXIST { throw .alreadyExists("\(path) exists already.") }
      throw .system(call: "open", path: path, errno: errno)
    }
    defer { close(file) }
    do {
      try run(text, ["-t", "PNG", "-s", "6", "-o", "-"], standardOutput: file)
    } catch {
      unlink(path)
      throw error
    }
  }

  private static func run(
    _ text: String, _ arguments: [String], standardOutput: Int32
  ) throws(CommandError) {
    let pipe = try ProcessPipe.make()
    defer { pipe.closeReading() }
    // Far less than a pipe holds.
    let bytes = Array(text.utf8)
    guard Glibc.write(pipe.writing, bytes, bytes.count) == bytes.count else {
      throw .system(call: "write", path: "a pipe", errno: errno)
    }
    pipe.closeWriting()
    var setup = ChildProcess.Setup()
    setup.files = [STDIN_FILENO: .own(pipe.reading), STDOUT_FILENO: .own(standardOutput)]
    let process: ChildProcess
    do { process = try ChildProcess("qrencode", arguments, setup) } catch {
      throw .unsupported(
        "QR codes are drawn by the program qrencode, which is not installed. On Debian: "
          + "apt install qrencode")
    }
    let ending = process.wait()
    guard ending.isSuccess else {
      throw .unsupported("qrencode ended with status \(ending.code).")
    }
  }
}
