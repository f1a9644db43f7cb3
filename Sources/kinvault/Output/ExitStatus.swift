/// What `kinvault` ends with, for scripts. Once published a number never changes its meaning.
enum ExitStatus: Int32, CaseIterable {
  case success = 0
  case problemsFound = 1
  case usage = 2
  case wrongSecret = 3
  case locked = 4
  case damaged = 5
  case notFound = 6
  case noSpace = 7
  case notPermitted = 8
  case busy = 9
  case refused = 10
  case alreadyExists = 11
  case unsupported = 12
  case system = 13
  case unreachable = 14
  case interrupted = 130

  /// One line for the documentation.
  var meaning: String {
    switch self {
    case .success: "everything was done"
    case .problemsFound: "done, but problems were found or are left; they are told"
    case .usage: "the command line is not right, or names something that is there twice"
    case .wrongSecret: "wrong password or wrong words"
    case .locked: "the vault is locked and nobody could be asked for the password"
    case .damaged: "something in the vault is damaged or missing"
    case .notFound: "no such vault, member, record, file or mount"
    case .noSpace: "no space left"
    case .notPermitted: "the folder or the vault is read-only, or permission was denied"
    case .busy: "in use"
    case .refused: "not confirmed, or refused to protect what is there"
    case .alreadyExists: "it exists already"
    case .unsupported: "the vault is of another format, or the machine lacks something"
    case .system: "the operating system reported an error"
    case .unreachable: "a remote cannot be reached or gives no sensible answer"
    case .interrupted: "interrupted"
    }
  }

  /// The table for `kinvault --help` and the documentation.
  static var table: String {
    allCases.map { status in
      let number = String(status.rawValue)
      return String(repeating: " ", count: 5 - number.count) + number + "  " + status.meaning
    }.joined(separator: "\n")
  }
}
