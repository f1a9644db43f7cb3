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
