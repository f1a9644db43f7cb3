import Glibc
import Processes
import VaultCrypto

/// Reads secrets into memory of their own, without a stop in ordinary memory.
enum SecretInput {
  /// The longest password or file of words, in bytes.
  static let limit = 4096

  /// Everything that comes from a descriptor; one line feed at the end (or carriage return and line
  /// feed) is left out.
  static func read(from descriptor: Int32, path: String) throws(CommandError) -> SecretBytes {
    var buffer = SecretBytes(count: limit + 1)
    var filled = 0
    while filled <= limit {
      let start = filled
      let count = buffer.withUnsafeMutableBytes { bytes in
        Glibc.read(descriptor, bytes.baseAddress! + start, bytes.count - start)
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(call: "read", path: path, errno: errno) }
      if count == 0 { break }
      filled += count
    }
    guard filled <= limit else {
      throw .usage("\(path) is longer than \(limit) bytes: it is hardly what is asked for.")
    }
    let length = lengthWithoutLineEnd(buffer, filled)
    guard length > 0 else { throw .usage("\(path) is empty: there is nothing to take from it.") }
    return buffer.prefix(length)
  }

  /// The content of a file; `-` is standard input.
  static func read(path: String) throws(CommandError) -> SecretBytes {
    if path == "-" { return try read(from: STDIN_FILENO, path: "standard input") }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    defer { close(descriptor) }
    return try read(from: descriptor, path: path)
  }

  /// What a shell command prints.
  static func read(command: String) throws(CommandError) -> SecretBytes {
    let pipe = try ProcessPipe.make()
    var setup = ChildProcess.Setup()
    setup.files[STDOUT_FILENO] = .own(pipe.writing)
    let process = try ChildProcess.start("/bin/sh", ["-c", command], setup)
    pipe.closeWriting()
    let secret: SecretBytes
    do {
      secret = try read(from: pipe.reading, path: "The output of KINVAULT_PASSWORD_COMMAND")
    } catch {
      pipe.closeReading()
      let ending = process.wait()
      // One that failed has said why, and most often nothing else.
      if case .exited(1..<128) = ending { throw failure(ending) }
      throw error
    }
    pipe.closeReading()
    let ending = process.wait()
    guard ending.isSuccess else { throw failure(ending) }
    return secret
  }

  private static func failure(_ ending: ChildProcess.Ending) -> CommandError {
    .locked(
      "The command in KINVAULT_PASSWORD_COMMAND failed (status \(ending.code)), so there is no password."
    )
  }

  private static func lengthWithoutLineEnd(_ secret: borrowing SecretBytes, _ count: Int) -> Int {
    secret.withUnsafeBytes { bytes in
      guard count > 0, bytes[count - 1] == UInt8(ascii: "\n") else { return count }
      let isPair = count > 1 && bytes[count - 2] == UInt8(ascii: "\r")
      return count - (isPair ? 2 : 1)
    }
  }
}

extension SecretBytes {
  /// The secret as text, for a library that takes nothing else: a copy in ordinary memory.
  var text: String {
    withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}
