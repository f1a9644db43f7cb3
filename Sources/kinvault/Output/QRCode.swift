import CLinux
import Glibc

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
    var ends: [Int32] = [-1, -1]
    let failure = kv_pipe(&ends)
    guard failure == 0 else { throw .system(call: "pipe", path: "", errno: -failure) }
    // Far less than a pipe holds.
    let bytes = Array(text.utf8)
    let count = Glibc.write(ends[1], bytes, bytes.count)
    close(ends[1])
    defer { close(ends[0]) }
    guard count == bytes.count else { throw .system(call: "write", path: "a pipe", errno: errno) }
    let process: pid_t
    do {
      process = try ChildProcess.start(
        ["qrencode"] + arguments, path: "qrencode", standardInput: ends[0],
        standardOutput: standardOutput)
    } catch {
      throw .unsupported(
        "QR codes are drawn by the program qrencode, which is not installed. On Debian: "
          + "apt install qrencode")
    }
    let status = ChildProcess.wait(for: process)
    guard status == 0 else { throw .unsupported("qrencode ended with status \(status).") }
  }
}
