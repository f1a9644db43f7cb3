import Logging
import Threads

/// The log of what nobody watches, and the memory of what fails there.
///
/// No name, path, address or secret can get into it: it takes words of this program, numbers, ids and kinds of errors. The
/// same failure again and again is one line now and then, with a count. Where nothing fails it costs a look at an empty
/// table. Safe to use from any thread; no lock has to be free but its own.
package final class BackgroundLog: Sendable {
  /// Where nobody reads one: commands whose failures end them, and tests.
  package static let silent = BackgroundLog(nil, failures: nil)

  private struct State {
    var standing = StandingFailures()
    /// What earlier processes have left in the file.
    var inherited: Set<KeptFailure.Key> = []
  }

  private let logger: Logger?
  private let file: FailureFile?
  private let milliseconds: @Sendable () -> UInt64
  private let state: Guarded<State>

  /// - Parameters:
  ///   - failures: Where other processes find what fails here.
  ///   - milliseconds: The time, since 1970.
  package init(
    _ logger: Logger?, failures: FailureFile?,
    milliseconds: @escaping @Sendable () -> UInt64 = { LogClock.milliseconds() }
  ) {
    self.logger = logger
    file = failures
    self.milliseconds = milliseconds
    state = Guarded(State())
  }

  /// Has what earlier processes could not do end when it succeeds here. To be called once, before anything can fail.
  package func begin() {
    guard let file else { return }
    file.prepare()
    let kept = Set(file.load().map(\.key))
    state.withLock { $0.inherited = kept }
  }

  /// Something could not be done.
  package func failed(
    _ work: BackgroundWork, _ error: any Error, of subject: LogIdentity? = nil,
    _ values: KeyValuePairs<LogWord, LogValue> = [:]
  ) {
    failed(work, kind: ErrorKind(error), of: subject, values)
  }

  /// Something could not be done, and there is no error that says why, but a kind of one.
  package func failed(
    _ work: BackgroundWork, kind: ErrorKind, of subject: LogIdentity? = nil,
    _ values: KeyValuePairs<LogWord, LogValue> = [:]
  ) {
    guard logger != nil || file != nil else { return }
    let key = StandingFailures.Key(work: work, subject: subject)
    let now = milliseconds()
    let answer = state.withLock { $0.standing.note(kind, of: key, at: now) }
    if answer.isTold {
      var fields: Logger.Metadata = ["kind": "\(kind.word)", "count": "\(answer.failure.count)"]
      if let number = kind.number { fields["number"] = "\(number)" }
      if let subject { fields[subject.field.description] = "\(subject.text)" }
      for (name, value) in values { fields[name.description] = "\(value.text)" }
      logger?.log(level: work.level, "\(work.rawValue) failed", metadata: fields)
    }
    if answer.isKept { keep(key) }
  }

  /// What may have been failing works.
  package func succeeded(_ work: BackgroundWork, of subject: LogIdentity? = nil) {
    let key = StandingFailures.Key(work: work, subject: subject)
    let (failure, wasInherited) = state.withLock { state -> (StandingFailures.Failure?, Bool) in
      if state.standing.isEmpty, state.inherited.isEmpty { return (nil, false) }
      return (state.standing.end(key), state.inherited.remove(KeptFailure.Key(key)) != nil)
    }
    guard failure != nil || wasInherited else { return }
    var fields: Logger.Metadata = [:]
    if let failure { fields["count"] = "\(failure.count)" }
    if let subject { fields[subject.field.description] = "\(subject.text)" }
    logger?.notice("\(work.rawValue) works again", metadata: fields)
    keep(key)
  }

  /// Runs `body`. What it throws is logged and goes no further.
  ///
  /// - Returns: Whether it succeeded.
  @discardableResult
  package func attempt<Failure: Error>(
    _ work: BackgroundWork, of subject: LogIdentity? = nil, _ body: () throws(Failure) -> Void
  ) -> Bool {
    do {
      try body()
      succeeded(work, of: subject)
      return true
    } catch {
      failed(work, error, of: subject)
      return false
    }
  }

  /// Something went as it should, and may be of use to whoever looks for what did not.
  package func note(_ event: LogWord, _ values: KeyValuePairs<LogWord, LogValue> = [:]) {
    var fields: Logger.Metadata = [:]
    for (name, value) in values { fields[name.description] = "\(value.text)" }
    logger?.info("\(event.description)", metadata: fields)
  }

  /// Has the file say of this what is so at the moment: another thread may have succeeded, or failed, meanwhile.
  private func keep(_ key: StandingFailures.Key) {
    guard key.work.isKept else { return }
    file?.update { all in
      all.removeAll { $0.key == KeptFailure.Key(key) }
      if let failure = state.withLock({ $0.standing[key] }) {
        all.insert(KeptFailure(failure, key), at: 0)
      }
    }
  }
}
