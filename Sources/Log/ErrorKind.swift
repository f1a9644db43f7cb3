/// What kind of error something was, without what it was about.
package struct ErrorKind: ExpressibleByStringLiteral, Hashable, Sendable {
  let word: LogWord
  /// The number of the operating system's error, or of a server's answer.
  let number: Int32?

  package init(_ word: LogWord, number: Int32? = nil) {
    self.word = word
    self.number = number
  }

  package init(stringLiteral word: StaticString) { self.init(LogWord(stringLiteral: word)) }

  /// `other` where the error has no kind of its own.
  package init(_ error: any Error) {
    self = (error as? any LoggedError)?.logKind ?? ErrorKind("other")
  }
}

/// An error that can stand in the log: by its kind only, as its message may name files and people.
package protocol LoggedError: Error {
  var logKind: ErrorKind { get }
}
