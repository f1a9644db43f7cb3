import VaultModel

/// One member as its root and links tell it, judged by the people who are known.
package struct MemberTrust: Sendable {
  package let history: MemberHistory
  package let epochs: Epochs
  /// Files among its links that are no links, with the reason.
  package let broken: [StatementFile: TrustError]
  /// Links whose certificate is not here, with the one that is missing.
  package let waiting: [StatementID: StatementID]
}

extension Trust {
  /// Judges one member by these people. No other member is needed for that.
  ///
  /// - Parameters:
  ///   - root: The member's, which stands.
  ///   - verified: Links that were verified here before.
  ///   - memory: Of ends of tenures; of closings it is not asked.
  package func judging(
    _ member: MemberID, root: MemberRoot, links: [StatementFile], verified: Set<StatementID>,
    memory: TrustMemory
  ) -> MemberTrust {
    let all = statements.adding(links, verified: verified)
    let history = Self.history(of: member, root, all, people, memory)
    return MemberTrust(
      history: history, epochs: Epochs(of: history, people: people),
      broken: all.broken, waiting: all.waiting)
  }

  /// The verdict on a head of this member that `head(decoding:)` gave.
  ///
  /// - Parameters:
  ///   - current: The epoch that is written under here.
  ///   - own: This machine's device, whose heads wait for no end of a contested place.
  package func verdict(
    on head: HeadFile, in member: MemberTrust, current: StatementID?, own: DeviceID? = nil
  ) -> HeadVerdict {
    if let obstacle = obstacle(to: head) { return obstacle }
    if head.device != own, member.history.isContested(head.epoch) {
      return .waiting(for: head.epoch)
    }
    return member.history.verdict(on: head, current: current)
  }
}
