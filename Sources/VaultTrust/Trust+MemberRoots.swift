import VaultModel

extension Trust {
  /// What a member's root says, once its creator's device is known to have signed it and stands.
  ///
  /// - Returns: nil while its certificate is not here.
  /// - Throws: What is wrong with the file; `departed`; `contradiction` when it is another member's, or its device waits.
  package func root(
    of member: MemberID, decoding file: [UInt8]
  ) throws(TrustError) -> MemberRoot? {
    let signed = try statements.open(file, .root)
    let root = try decoding(signed.body, MemberRoot.init(decoding:))
    guard MemberID(root: signed.id) == member else {
      throw .contradiction("its id is not the member's name")
    }
    guard let certificate = statements.certificates[root.certificate] else { return nil }
    guard certificate.person == root.person else {
      throw .contradiction("its certificate is another person's")
    }
    try statements.verify(signed, certificate.signingKey)
    guard stands(signed.id, by: root.certificate) else {
      if device(root.certificate) == .former { throw .departed }
      throw .contradiction("its device does not count, and no closing lists it")
    }
    return root
  }
}
