import Log

extension MountError: LoggedError {
  package var logKind: ErrorKind {
    switch self {
    case .notADirectory: "notADirectory"
    case .notEmpty: "notEmpty"
    case .overlapsVault: "overlapsVault"
    case .alreadyMounted: "alreadyMounted"
    case .mountedElsewhere: "mountedElsewhere"
    case .mountedUnseen: "mountedUnseen"
    case .notEnded: "notEnded"
    case .refused: "refused"
    case .othersNotAllowed: "othersNotAllowed"
    case .noDevice(let errno): ErrorKind("noDevice", number: errno)
    case .notMounted: "notMounted"
    case .busy: "busy"
    case .notUnmounted: "notUnmounted"
    case .notSaved(_, let errno): ErrorKind("notSaved", number: errno)
    case .lostAtEnd(_, let errno): ErrorKind("lostAtEnd", number: errno)
    case .stillServing: "stillServing"
    case .backgroundFailed: "backgroundFailed"
    case .backgroundDied(let status): ErrorKind("backgroundDied", number: status)
    case .system(_, _, let errno): ErrorKind("system", number: errno)
    }
  }
}
