import Glibc
import Processes
import Threads
import Window

/// Opens the page in the person's browser.
///
/// The code that lets it in stands in a file which only this user can read, and which sends it as a form: on no command line
/// and in no address, where other users, or the browser's history, would have it.
struct BrowserLaunch: ~Copyable {
  private let folder: PrivateFolder
  private let file: String

  /// Writes the file, which goes with the value.
  static func prepare(_ opening: Window.Opening) throws(CommandError) -> BrowserLaunch {
    let folder = try PrivateFolder(allowsDisk: true)
    let file = "\(folder.path)/open.html"
    try write(Array(document(opening).utf8), to: file)
    return BrowserLaunch(folder, file)
  }

  private init(_ folder: consuming PrivateFolder, _ file: String) {
    self.folder = folder
    self.file = file
  }

  private static func write(_ bytes: [UInt8], to file: String) throws(CommandError) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(call: "open", path: file, errno: errno) }
    defer { close(descriptor) }
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
      throw .system(call: "write", path: file, errno: errno)
    }
  }

  /// Has the browser open the file. Whether it did is known when somebody comes in.
  func start() throws(CommandError) {
    let process = try ChildProcess.start("xdg-open", [file])
    // The browser may go on for as long as it likes.
    _ = SystemThread.detach { process.wait() }
  }

  private static func document(_ opening: Window.Opening) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <meta charset="utf-8">
    <meta name="referrer" content="no-referrer">
    <title>Kinvault</title>
    <form method="post" action="\(opening.entrance)">
    <input type="hidden" name="code" value="\(opening.launchCode)">
    <button>Open the vault</button>
    </form>
    <script>document.forms[0].submit()</script>
    </html>

    """
  }
}
