import VaultModel

/// Whether what a device's head of a member says counts: Docs/Format.md, section 16, "Heads".
package enum HeadVerdict: Hashable, Sendable {
  case counts
  /// It counts, but is sealed under this epoch instead of the current one.
  case late(StatementID)
  /// It cannot be judged yet: the certificate, closing or link with this id is not here, or waits for something itself.
  case waiting(for: StatementID)
  /// It would have counted once: since then its device was left out, or its writer may not write any more.
  case former
  /// Its writer may read the member and not write it.
  case reader
  /// Its writer has no access to the member.
  case stranger
}

extension MemberHistory {
  /// The verdict on a head of this member whose device counts.
  func verdict(on head: HeadFile, current: StatementID?) -> HeadVerdict {
    // Whoever writes under an epoch knows the link that began it.
    let links = head.follows + [head.epoch]
    for link in links where graph.number(of: link) == nil { return .waiting(for: link) }
    let known = graph.closure(of: links.compactMap { graph.number(of: $0) })
    let followed = (remainders[head.person] ?? []).filter { remainder in
      remainder.gift.link.map(known.contains) ?? true
    }
    guard followed.contains(where: { $0.role?.mayWrite ?? false }) || isLast(head, followed)
    else {
      if followed.contains(where: { $0.gift.role.mayWrite }) { return .former }
      return access.includes(head.person) ? .reader : .stranger
    }
    return head.epoch == current ? .counts : .late(head.epoch)
  }

  /// Whether a link was written by whoever would hold a contested place if another end of it were the true one. What is
  /// sealed under an epoch that it began is put under no other one: of the owners of the two, each may have let out whom
  /// the other one trusts.
  func isContested(_ link: StatementID) -> Bool {
    guard let number = graph.number(of: link) else { return false }
    return if case .contested = verdicts[number] { true } else { false }
  }

  /// Whether the head's writer has left since, nobody else took what they had, and said that this head goes on counting.
  private func isLast(_ head: HeadFile, _ followed: [Remainder]) -> Bool {
    followed.contains { $0.besideLeavings?.mayWrite ?? false }
      && lastHeads[head.person]?[head.device].map { head.counter <= $0 } ?? false
  }
}
