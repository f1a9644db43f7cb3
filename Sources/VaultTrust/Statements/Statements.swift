import VaultModel

/// A file that is to be judged, with the kind that its path says it is of.
package struct StatementFile: Hashable, Sendable {
  package let label: SignedLabel
  package let bytes: [UInt8]

  package init(_ label: SignedLabel, _ bytes: [UInt8]) {
    self.label = label
    self.bytes = bytes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(label)
    hasher.combine(bytes.count)
    // The hash of an array, but all at once: one by one its bytes took a twentieth of a sync's time.
    bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

/// All statements that are what they say, by id, each signed by the key that has to have signed it.
///
/// Nothing here says who counts. Made from files in any order and number, twice the same ones
/// included; the cost is what they weigh.
package struct Statements: Sendable {
  package let vault: VaultID
  let check: SignatureCheck
  /// Statements that were verified here before: their signatures are not verified again.
  private(set) var verified: Set<StatementID>

  package internal(set) var closings: [StatementID: Closing] = [:]
  package internal(set) var certificates: [StatementID: Certificate] = [:]
  package internal(set) var roots: [MemberID: MemberRoot] = [:]
  package internal(set) var links: [MemberID: [StatementID: Link]] = [:]
  /// Statements whose signer is not known yet, with the certificate or closing that is missing.
  package internal(set) var waiting: [StatementID: StatementID] = [:]
  /// Files that are no statements, with the reason.
  package internal(set) var broken: [StatementFile: TrustError] = [:]

  package init(
    vault: VaultID, files: [StatementFile], verified: Set<StatementID> = [],
    check: SignatureCheck = .ed25519
  ) {
    self.vault = vault
    self.verified = verified
    self.check = check
    for file in files where file.label == .closing { take(file, admitClosing) }
    admitCertificates(files)
    admitRest(files)
  }

  /// These statements together with more of members. It is told only of the new ones what is broken or waits.
  ///
  /// - Parameter verified: What of the new ones was verified here before.
  package func adding(
    _ files: [StatementFile], verified: Set<StatementID>
  ) -> Statements {
    var all = self
    all.verified.formUnion(verified)
    all.broken = [:]
    all.waiting = [:]
    all.admitRest(files)
    return all
  }

  private mutating func admitRest(_ files: [StatementFile]) {
    for file in files {
      switch file.label {
      case .root: take(file, admitRoot)
      case .link: take(file, admitLink)
      case .closing, .certificate: break
      case .head, .revision, .successor, .device:
        broken[file] = .contradiction("a \(file.label.rawValue) is no statement")
      }
    }
  }

  /// What a statement's file says, if all that its signature builds on is here.
  ///
  /// The file itself is verified, also when its statement was before: another copy of it may be damaged.
  /// - Throws: What is wrong with it; `unknownSigner` when that cannot be told yet.
  package func verify(_ file: StatementFile) throws(TrustError) -> (
    id: StatementID, person: PersonID
  ) {
    let signed = try open(file.bytes, file.label)
    let (person, key) = try signer(of: signed.body, file.label)
    guard check.isRight(signed.message, signed.signature, key) else { throw .signature }
    return (signed.id, person)
  }

  private func signer(
    of body: [UInt8], _ label: SignedLabel
  ) throws(TrustError) -> (PersonID, VerifyingKey) {
    switch label {
    case .closing:
      let closing = try decoding(body, Closing.init(decoding:))
      return (closing.person, closing.rootKey)
    case .root:
      let root = try decoding(body, MemberRoot.init(decoding:))
      return try signer(of: root.person, root.certificate)
    case .link:
      let link = try decoding(body, Link.init(decoding:))
      return try signer(of: link.person, link.certificate)
    default: return try signer(ofCertificate: body)
    }
  }

  private func signer(
    of person: PersonID, _ certificate: StatementID
  ) throws(TrustError) -> (PersonID, VerifyingKey) {
    guard let known = certificates[certificate] else { throw .unknownSigner }
    guard known.person == person else {
      throw .contradiction("its certificate is another person's")
    }
    return (person, known.signingKey)
  }

  private func signer(ofCertificate body: [UInt8]) throws(TrustError) -> (PersonID, VerifyingKey) {
    let certificate = try decoding(body, Certificate.init(decoding:))
    guard
      isSigned(.device, certificate.consentBody, certificate.consent, by: certificate.signingKey)
    else { throw .consent }
    guard let approver = certificate.approver else {
      guard let closing = closings[certificate.generation] else { throw .unknownSigner }
      guard closing.person == certificate.person else {
        throw .contradiction("another person's key gave this certificate")
      }
      return (certificate.person, closing.rootKey)
    }
    guard let known = certificates[approver] else { throw .unknownSigner }
    guard known.person == certificate.person else {
      throw .contradiction("another person's key gave this certificate")
    }
    return (certificate.person, known.signingKey)
  }

  /// A body, what was signed for it, and by what signature.
  struct Signed {
    let id: StatementID
    let body: [UInt8]
    let message: [UInt8]
    let signature: [UInt8]
  }

  func open(_ bytes: [UInt8], _ label: SignedLabel) throws(TrustError) -> Signed {
    let file = try decoding(bytes, SignedFile.init(decoding:))
    let message = vault.signedMessage(label, file.body)
    return Signed(
      id: StatementID(signedMessage: message), body: file.body, message: message,
      signature: file.signature)
  }

  /// Throws unless the key has signed it, or that was found out before.
  func verify(_ signed: Signed, _ key: VerifyingKey) throws(TrustError) {
    guard verified.contains(signed.id) || check.isRight(signed.message, signed.signature, key)
    else { throw .signature }
  }

  func isSigned(
    _ label: SignedLabel, _ body: [UInt8], _ signature: [UInt8], by key: VerifyingKey
  ) -> Bool {
    check.isRight(vault.signedMessage(label, body), signature, key)
  }

  private mutating func take(
    _ file: StatementFile,
    _ admit: (inout Statements, StatementFile) throws(TrustError) -> Void
  ) {
    do { try admit(&self, file) } catch { broken[file] = error }
  }
}

/// The value that `decode` gives, or why the bytes are none.
func decoding<Value>(
  _ body: [UInt8], _ decode: ([UInt8]) throws(ModelError) -> Value
) throws(TrustError) -> Value {
  do { return try decode(body) } catch { throw .body(error) }
}

extension StatementFile {
  /// Where a statement says that it belongs: under which id it stands, and with which person or member. Nothing is
  /// verified.
  package func place(in vault: VaultID) throws(TrustError) -> StatementPlace {
    let file = try decoding(bytes, SignedFile.init(decoding:))
    let id = vault.statementID(label, body: file.body)
    switch label {
    case .certificate:
      return .person(try decoding(file.body, Certificate.init(decoding:)).person, id)
    case .link: return .member(try decoding(file.body, Link.init(decoding:)).member, id)
    case .root: return .member(MemberID(root: id), id)
    default: return .person(try decoding(file.body, Closing.init(decoding:)).person, id)
    }
  }
}

/// In whose folder a statement stands, and its id.
package enum StatementPlace: Hashable, Sendable {
  case person(PersonID, StatementID)
  case member(MemberID, StatementID)
}
