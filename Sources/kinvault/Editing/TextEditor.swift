import Glibc
import Processes
import SystemPackage

/// The person's own editor, run on a text that is unencrypted only in a private folder.
enum TextEditor {
  /// Has the text edited, and gives it to `save` as the person left it. Where that fails it stays in its folder, and the
  /// person is told where: nothing that was typed is lost.
  ///
  /// - Throws: `refused` when the editor ends with an error; then nothing counts as changed. What `save` throws.
  static func edit(
    _ text: [UInt8], named name: String, allowsDisk: Bool, save: ([UInt8]) throws -> Void
  ) throws {
    // Whatever tells this process to stop must wait until the text is saved and wiped.
    let signals = HeldSignals([SIGINT, SIGQUIT, SIGTERM, SIGHUP])
    defer { signals.release() }
    var folder = try PrivateFolder(allowsDisk: allowsDisk)
    let path = "\(folder.path.string)/\(name)"
    try write(text, to: path)
    let place = folder.isInMemory ? "in memory" : "ON DISK, unencrypted,"
    Terminal.note("The text is at \(path) (\(place) until you are done).")
    let editor = Environment.value("VISUAL") ?? Environment.value("EDITOR") ?? "vi"
    // The variable may hold arguments: EDITOR="code --wait".
    let process = try ChildProcess.start(
      "/bin/sh", ["-c", "exec \(editor) \"$1\"", "sh", path])
    let ending = process.wait()
    // Vim's undo file has all of the text, and stands outside of the folder where a person wants it there.
    for note in VaultTraces.clean(below: folder.path) { Terminal.note(note) }
    guard ending.isSuccess else {
      throw CommandError.refused(
        "The editor (\(editor)) ended with status \(ending.code). Nothing was changed.")
    }
    do { try save(try read(path)) } catch {
      folder.keep()
      let place = folder.isInMemory ? "in memory" : "on disk, unencrypted"
      Terminal.note(
        "kinvault: Your text is not saved. It is still at \(path) (\(place)); remove its folder when you have it "
          + "elsewhere.")
      throw error
    }
  }

  private static func read(_ path: String) throws(CommandError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    defer { close(descriptor) }
    return try PlainText.read(from: descriptor, path: path, limit: 16 << 20)
  }

  private static func write(_ text: [UInt8], to path: String) throws(CommandError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(call: "open", path: path, errno: errno) }
    defer { close(descriptor) }
    var rest = text[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .system(call: "write", path: path, errno: errno) }
      rest = rest.dropFirst(count)
    }
  }
}
