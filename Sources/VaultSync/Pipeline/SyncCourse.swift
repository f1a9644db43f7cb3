/// The course of one sync: what is to be done next, as a value. Whoever does it says what came of it.
///
/// Whatever its reach, a sync looks at both sides and judges what they show, takes, and puts, in this order.
struct SyncCourse: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    /// Finds what was committed here since the remote took the heads that it shows, and opens the vault so far.
    case findCommits
    /// Lists what both sides show, and judges it.
    case look
    /// Sees that nothing is to be done but to put what was committed here there.
    case requireSettled
    case takeStatements
    case requireNotRemoved
    /// Takes objects and heads of every member: into the vault, or while it is locked beside it.
    case takeMembers
    /// Goes on as a device of its own, if another machine has written under this machine's key.
    case part
    /// Takes what was fetched while locked and the remote does not show any more.
    case takeIncoming
    /// Lets go of what was fetched while locked, and has been taken.
    case forgetIncoming
    /// Sees to who has access: goes on with epochs that were interrupted, and begins those that are due.
    case tendAccess
    case carryLogs
    case putPeople
    /// Puts objects, links and heads of every member there.
    case putMembers
    /// Puts there only what was committed here.
    case putCommits
    /// Sees that the remote is a vault, and that it keeps what was put there.
    case endPut
    /// Counts the commits that are here and not there.
    case countPending
  }

  /// What is left to do, in its order.
  private(set) var steps: [Step]

  init(_ reach: SyncReach.Kind, _ options: SyncOptions) {
    let (pulls, pushes) = (options.direction != .push, options.direction != .pull)
    switch reach {
    case .heads: steps = [.findCommits, .look, .requireSettled, .putCommits, .endPut]
    case .locked:
      steps = [.look]
      if pulls { steps.append(.takeStatements) }
      steps.append(.requireNotRemoved)
      if pulls { steps.append(.takeMembers) }
      steps.append(.carryLogs)
      if pushes { steps += [.putPeople, .putMembers, .endPut] }
    case .open:
      steps = [.look]
      // A removed device takes no more than that it was removed: that is what it has to know.
      if pulls {
        steps += [.takeStatements, .requireNotRemoved, .takeMembers, .part]
        // After what the remote shows: that may say of whom nothing is to be taken any more.
        if !options.isDryRun { steps += [.takeIncoming, .forgetIncoming] }
      }
      steps.append(.requireNotRemoved)
      if pushes, !options.isDryRun { steps.append(.tendAccess) }
      steps.append(.carryLogs)
      if pushes { steps += [.putPeople, .putMembers, .endPut] }
      steps.append(.countPending)
    }
  }

  /// Of what was fetched while locked, as if that were a remote.
  static let ofIncoming = SyncCourse([
    .look, .takeStatements, .requireNotRemoved, .takeMembers, .part,
  ])

  private init(_ steps: [Step]) { self.steps = steps }

  /// Takes the next step off; nil at the end.
  mutating func next() -> Step? { steps.isEmpty ? nil : steps.removeFirst() }

  /// A step was done.
  ///
  /// - Parameter isLookOutdated: What was judged does not hold any more: this machine is another device now, or there are
  ///   links that were not there before.
  mutating func end(of step: Step, isLookOutdated: Bool) {
    guard isLookOutdated else { return }
    // What others hold against the former device they may give to the new one.
    steps.insert(contentsOf: step == .part ? [.look, .takeMembers] : [.look], at: 0)
  }
}
