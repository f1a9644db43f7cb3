import Glibc
import SystemPackage

/// Why a command could not do what it was asked, where the cause is not in a module below.
///
/// Holds what the person typed and paths of this machine; never a secret.
enum CommandError: Error {
  /// The words of the command line do not make sense together.
  case usage(String)
  case notFound(String)
  case alreadyExists(String)
  /// There is nobody to ask for the password.
  case locked(String)
  /// What this machine keeps is damaged, and there is a way on.
  case damaged(String)
  /// What was typed in is not right.
  case wrongSecret(String)
  /// Nothing more can be removed from a disk that is full.
  case noRoom(String)
  /// Not done, to protect what is there, or because the person said no.
  case refused(String)
  /// Somebody else may do it.
  case notPermitted(String)
  case unsupported(String)
  /// A signal came while the person was asked something.
  case interrupted(signal: Int32)
  /// It was done, and what it found is already printed.
  case problemsFound
  /// Some of several remotes, by their names. Why is already printed with each; the status is the first one's.
  case notSynced([String], ExitStatus)
  /// A part of it was done, and the text says how to go on; the status is that of what ended it.
  case cutShort(String, ExitStatus)
  case system(call: String, path: String, errno: Int32)

  var message: String {
    switch self {
    case .usage(let text), .notFound(let text), .alreadyExists(let text), .locked(let text),
      .wrongSecret(let text), .refused(let text), .notPermitted(let text), .unsupported(let text),
      .noRoom(let text), .damaged(let text), .cutShort(let text, _):
      text
    case .interrupted: "Interrupted."
    case .problemsFound: ""
    case .notSynced(let remotes, _): "Not synced: \(remotes.joined(separator: ", "))."
    case .system(let call, let path, let errno):
      "\(path.isEmpty ? call : "\(path): \(call)"): \(Self.describe(errno))."
    }
  }

  /// The system's words for an error number.
  static func describe(_ number: Int32) -> String {
    String(cString: strerror(number))
  }
}
