/// The steps of one sync that are left to do. It is a pure value: `SyncPipeline` asks it for the next step, does that, and tells
/// it what came of it.
///
/// However far a sync reaches, it looks at both sides and judges what they show, then takes what is news here, then puts what is
/// news there.
struct SyncCourse: Hashable, Sendable {
  enum Step: Hashable, Sendable {
    /// Finds what was committed here that the remote does not have, and opens the vault as far as that needs.
    case findCommits
    /// Lists what both sides show, and judges it.
    case look
    /// Ends the sync, as one that does not reach far enough, if anything is to be done besides putting these commits there.
    case requireSettled
    case takeStatements
    case requireNotRemoved
    /// Takes objects and heads of every member: into the vault or, while that is locked, into a folder beside it.
    case takeMembers
    /// Makes this machine a device of its own, if another machine has written as the same device.
    case part
    /// Takes what was fetched while the vault was locked and the remote does not show any more.
    case takeIncoming
    /// Removes what was fetched while the vault was locked, now that it was taken.
    case forgetIncoming
    /// Does what is due now that somebody's access has changed: hand overs, and epochs that are to begin or were interrupted.
    case tendAccess
    case carryLogs
    case putPeople
    /// Puts objects, links and heads of every member there.
    case putMembers
    /// Puts there what `findCommits` found, and nothing else.
    case putCommits
    /// Puts `vault.json` there if it is missing, and waits until the remote keeps what was put.
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

  /// The course of taking what was fetched while the vault was locked: from its folder, as if that were a remote.
  static let ofIncoming = SyncCourse([
    .look, .takeStatements, .requireNotRemoved, .takeMembers, .part,
  ])

  private init(_ steps: [Step]) { self.steps = steps }

  /// Takes the next step off; nil at the end.
  mutating func next() -> Step? { steps.isEmpty ? nil : steps.removeFirst() }

  /// A step was done.
  ///
  /// - Parameter isLookOutdated: Whether what was judged before does not hold any more, since this machine is another device now
  ///   or links have come. Then a look comes next.
  mutating func end(of step: Step, isLookOutdated: Bool) {
    guard isLookOutdated else { return }
    // What others hold against the former device they may give to the new one.
    steps.insert(contentsOf: step == .part ? [.look, .takeMembers] : [.look], at: 0)
  }
}
