import VaultModel

extension Trust {
  /// What a head's file says, once its device is known to have signed it.
  ///
  /// - Returns: nil while its certificate is not here.
  package func head(decoding file: [UInt8]) throws(TrustError) -> HeadFile? {
    let signed = try statements.open(file, .head)
    let head = try decoding(signed.body, HeadFile.init(decoding:))
    guard let certificate = statements.certificates[head.certificate] else { return nil }
    guard certificate.person == head.person, certificate.device == head.device else {
      throw .contradiction("its certificate is another device's")
    }
    try statements.verify(signed, certificate.signingKey)
    return head
  }

  /// The verdict on a head as it stands in the folder.
  ///
  /// Collecting waits for one that is `waiting` only if its seal opens with a key of the member:
  /// anybody can write one that names what does not exist.
  /// - Parameter covers: what the heads say that count and are of the current epoch.
  package func verdict(onHead file: [UInt8], covers: [HeadCover] = []) -> HeadVerdict {
    do throws(TrustError) {
      guard let head = try head(decoding: file) else {
        let signed = try statements.open(file, .head)
        let body = try decoding(signed.body, HeadFile.init(decoding:))
        return .waiting(for: body.certificate)
      }
      return verdict(on: head, covers: covers)
    } catch { return .broken(error) }
  }

  /// The verdict on a head that `head(decoding:)` gave.
  package func verdict(on head: HeadFile, covers: [HeadCover] = []) -> HeadVerdict {
    if let obstacle = obstacle(to: head) { return obstacle }
    guard let member = members[head.member] else {
      // A member whose creator's device was left out, and which no closing lists, has nobody.
      return statements.roots[head.member] == nil ? .waiting(for: head.member.root) : .stranger
    }
    if member.isContested(head.epoch) { return .waiting(for: head.epoch) }
    return member.verdict(on: head, current: epochs[head.member]?.current, covers: covers)
  }

  /// What keeps a head from counting because of its device; nil: nothing.
  func obstacle(to head: HeadFile) -> HeadVerdict? {
    switch device(head.certificate) {
    case .unknown: .waiting(for: head.certificate)
    case .waiting:
      .waiting(for: statements.certificates[head.certificate]?.generation ?? .zero)
    case .former: .former
    case .counts: nil
    }
  }
}
