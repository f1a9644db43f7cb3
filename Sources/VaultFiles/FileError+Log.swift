import Log

extension FileError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .notFound: "notFound"
    case .alreadyExists: "alreadyExists"
    case .notDirectory: "notDirectory"
    case .isDirectory: "isDirectory"
    case .notEmpty: "notEmpty"
    case .notPermitted: "notPermitted"
    case .accessDenied: "permission"
    case .crossDevice: "crossDevice"
    case .readOnly: "readOnly"
    case .noSpace: "noSpace"
    case .attributesTooLarge: "attributesTooLarge"
    case .inputOutput: "inputOutput"
    case .away: "away"
    case .nameTooLong: "nameTooLong"
    case .invalidArgument: "invalidArgument"
    case .notSupported: "notSupported"
    case .noAttribute: "noAttribute"
    case .rangeExceeded: "rangeExceeded"
    case .badHandle: "badHandle"
    case .fileTooLarge: "fileTooLarge"
    case .noSuchRegion: "noSuchRegion"
    case .tooManyLinks: "tooManyLinks"
    case .stale: "stale"
    }
  }
}
