import VaultModel

/// What is admitted once its signer is known.
func admitClosing(_ all: inout Statements, _ file: StatementFile) throws(TrustError) {
  let signed = try all.open(file.bytes, .closing)
  let closing = try decoding(signed.body, Closing.init(decoding:))
  try all.verify(signed, closing.rootKey)
  all.closings[signed.id] = closing
}

func admitRoot(_ all: inout Statements, _ file: StatementFile) throws(TrustError) {
  let signed = try all.open(file.bytes, .root)
  let body = try decoding(signed.body, MemberRoot.init(decoding:))
  guard try all.isByDevice(signed, body.person, body.certificate) else { return }
  all.roots[MemberID(root: signed.id)] = body
}

func admitLink(_ all: inout Statements, _ file: StatementFile) throws(TrustError) {
  let signed = try all.open(file.bytes, .link)
  let body = try decoding(signed.body, Link.init(decoding:))
  guard try all.isByDevice(signed, body.person, body.certificate) else { return }
  all.links[body.member, default: [:]][signed.id] = body
}

extension Statements {
  /// Whether the certificate is here; throws if it is of someone else or has not signed.
  fileprivate mutating func isByDevice(
    _ signed: Signed, _ person: PersonID, _ certificate: StatementID
  ) throws(TrustError) -> Bool {
    guard let signer = certificates[certificate] else {
      waiting[signed.id] = certificate
      return false
    }
    guard signer.person == person else {
      throw .contradiction("its certificate is another person's")
    }
    try verify(signed, signer.signingKey)
    return true
  }

  /// A certificate on its way: admitted when the key that signed it is known.
  private struct Candidate {
    let file: StatementFile
    let signed: Signed
    let certificate: Certificate
  }

  /// Admits every certificate whose chain of approvals is here, each looked at once.
  mutating func admitCertificates(_ files: [StatementFile]) {
    var approved: [StatementID: [Candidate]] = [:]
    var ready: [(Candidate, VerifyingKey)] = []
    for file in files where file.label == .certificate {
      do {
        let signed = try open(file.bytes, .certificate)
        let certificate = try decoding(signed.body, Certificate.init(decoding:))
        let candidate = Candidate(file: file, signed: signed, certificate: certificate)
        if let approver = certificate.approver {
          approved[approver, default: []].append(candidate)
          waiting[signed.id] = approver
        } else if let closing = closings[certificate.generation] {
          ready.append((candidate, closing.rootKey))
        } else {
          waiting[signed.id] = certificate.generation
        }
      } catch { broken[file] = error }
    }
    while let (candidate, key) = ready.popLast() {
      waiting[candidate.signed.id] = nil
      do { try admit(candidate, key) } catch {
        broken[candidate.file] = error
        continue
      }
      let next = approved.removeValue(forKey: candidate.signed.id) ?? []
      ready += next.map { ($0, candidate.certificate.signingKey) }
    }
  }

  private mutating func admit(_ candidate: Candidate, _ key: VerifyingKey) throws(TrustError) {
    let (signed, certificate) = (candidate.signed, candidate.certificate)
    try verify(signed, key)
    let approver = certificate.approver.flatMap { certificates[$0] }
    let vouching = approver?.person ?? closings[certificate.generation]?.person
    guard vouching == certificate.person else {
      throw .contradiction("another person's key gave this certificate")
    }
    guard
      verified.contains(signed.id)
        || isSigned(
          .device, certificate.consentBody, certificate.consent, by: certificate.signingKey)
    else { throw .consent }
    certificates[signed.id] = certificate
  }
}
