import VaultModel

@testable import VaultTrust

extension Trust {
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
