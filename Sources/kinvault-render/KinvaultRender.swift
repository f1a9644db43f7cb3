import CSandbox
import Glibc

/// Opens bytes that somebody else made, for `kinvault`: they come on standard input, and what is made of them (`Request`) goes
/// to standard output, after a line that says that from here on there is nothing else that this process could do
/// (`kv_confine`).
@main
enum KinvaultRender {
  /// As much is read, in bytes.
  private static let inputLimit = 64 << 20

  static func main() {
    guard let request = Request(Array(CommandLine.arguments.dropFirst())) else {
      StandardFiles.complain(Request.usage)
      _exit(EX_USAGE)
    }
    request.prepare()
    guard kv_confine() == 0 else { _exit(EX_OSERR) }
    guard StandardFiles.write(Array("kinvault-render 1\n".utf8)),
      let input = StandardFiles.read(limit: inputLimit)
    else { _exit(EX_IOERR) }
    guard let answer = request.answer(input) else { _exit(EX_DATAERR) }
    // Without what libraries want to do at the end.
    _exit(StandardFiles.write(answer) ? EX_OK : EX_IOERR)
  }
}
