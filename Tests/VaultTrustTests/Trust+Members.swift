import VaultModel

@testable import VaultTrust

extension Trust {
  /// Who has access to the member; nil if it is not here, or its creator's device does not count.
  func access(to member: MemberID) -> Access? { members[member]?.access }

  /// What is held in memory and has no statement here: somebody hides it, or it was lost.
  var missing: Set<StatementID> {
    memory.closings.subtracting(statements.closings.keys).union(
      memory.ends.filter { end in !statements.links.values.contains { $0[end] != nil } })
  }

  /// The verdict on a head as it stands in a folder where all statements are judged at once, by the epoch that is current there.
  ///
  /// - Throws: What is wrong with the file, or its signature.
  func verdict(onHead file: [UInt8]) throws(TrustError) -> HeadVerdict {
    guard let head = try head(decoding: file) else {
      let signed = try statements.open(file, .head)
      return .waiting(for: try decoding(signed.body, HeadFile.init(decoding:)).certificate)
    }
    if let obstacle = obstacle(to: head) { return obstacle }
    guard let member = members[head.member] else {
      // A member whose creator's device was left out, and which no closing lists, has nobody.
      return statements.roots[head.member] == nil ? .waiting(for: head.member.root) : .stranger
    }
    if member.isContested(head.epoch) { return .waiting(for: head.epoch) }
    return member.verdict(on: head, current: epochs[head.member]?.current)
  }
}

extension Statements {
  /// The ids of all that is here and sound: what the next reading need not verify again.
  var sound: Set<StatementID> {
    var all = Set(closings.keys)
    all.formUnion(certificates.keys)
    all.formUnion(roots.keys.map(\.root))
    for links in links.values { all.formUnion(links.keys) }
    return all
  }
}
