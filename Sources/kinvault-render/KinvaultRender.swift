import CSandbox
import Glibc

/// Opens bytes that somebody else made, for `kinvault`: they come on standard input, and what is made of them goes to standard
/// output, after a line that says that from here on there is nothing else that this process could do (`kv_confine`).
///
///     kinvault-render text <FILE.pdf
@main
enum KinvaultRender {
  /// As much is read, in bytes.
  private static let inputLimit = 64 << 20

  private enum Verb: String {
    /// The text layer of a PDF in UTF-8, with a form feed after each page.
    case text
  }

  static func main() {
    guard CommandLine.arguments.count == 2, let verb = Verb(rawValue: CommandLine.arguments[1])
    else {
      StandardFiles.complain("Usage: kinvault-render text <FILE.pdf")
      _exit(EX_USAGE)
    }
    guard kv_confine() == 0 else { _exit(EX_OSERR) }
    guard StandardFiles.write(Array("kinvault-render 1\n".utf8)),
      let input = StandardFiles.read(limit: inputLimit)
    else { _exit(EX_IOERR) }
    let answer =
      switch verb {
      case .text: PDFText.of(input)
      }
    guard let answer else { _exit(EX_DATAERR) }
    // Without what libraries want to do at the end.
    _exit(StandardFiles.write(answer) ? EX_OK : EX_IOERR)
  }
}
