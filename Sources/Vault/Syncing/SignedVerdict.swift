import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What a signed file is worth in a tree: the one answer by which a sync goes, for a file here and for one on a remote.
package enum SignedVerdict: Sendable {
  /// It holds, and says this.
  case counts(SignedFacts)
  /// It is a register of a device that was removed: it is left where it is, on both sides.
  case retired
  /// It is a head of someone who could write the member once and may no more, or a link that counted here once and whose
  /// writer has no place any more: it counts for nothing, stands where it stands, and nobody is to be blamed for it.
  case former
  /// It does not hold.
  case broken(VaultError)
}

extension SignedTree {
  /// What these bytes are worth as the file at `path`.
  ///
  /// - Throws: What keeps this machine from judging it: `io` and the like, which nobody's bytes bring about.
  package func verdict(on path: VaultPath, _ bytes: [UInt8]) throws(VaultError) -> SignedVerdict {
    if isRetired(path) { return .retired }
    do {
      if case .head(let member, let device) = path {
        let head = try judge(member, device, in: holding(path, bytes))
        if head.isOfFormerWriter { return .former }
        try head.requireCounting()
        return .counts(SignedFacts(head))
      }
      if case .link(let member, let id) = path, try links(of: member).fallen.contains(id) {
        _ = try verifyStatement(path, bytes)
        return .former
      }
      return .counts(try verify(path, bytes))
    } catch {
      return try .broken(ofFile: error)
    }
  }

  /// What these bytes are worth as the file at `path`, where none stands here: a wrap holds on its own, and of a member that a
  /// removed device has made, and no closing lists, nothing is taken.
  package func verdict(
    onNew path: VaultPath, _ bytes: [UInt8]
  ) throws(VaultError) -> SignedVerdict {
    guard case .epochWrap(let member, _) = path else { return try verdict(on: path, bytes) }
    do { _ = try links(of: member) } catch {
      if error.isOfUnlistedMember { return .former }
      guard error.isOfBrokenFile else { throw error }
    }
    return try verdict(on: path, bytes)
  }

  /// What the file that stands in the store at `path` is worth; nil when there is none.
  ///
  /// - Throws: What keeps it from being read or judged.
  package func verdictOnStored(_ path: VaultPath) throws(VaultError) -> SignedVerdict? {
    if isRetired(path) { return .retired }
    let bytes: [UInt8]
    do {
      bytes = try store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return nil }
      return try .broken(ofFile: VaultError(error))
    }
    return try verdict(on: path, bytes)
  }

  /// Whether a file is a register of a device that was left out by whoever certified it: what that signs counts no more.
  package func isRetired(_ path: VaultPath) -> Bool {
    switch path {
    case .head(let member, let device): people.isFormer(device) || isLeftOut(device, of: member)
    case .device(let person, let device):
      people.isFormer(device) || people.whoLeftOut(device).contains(person)
    default: false
    }
  }

  /// Whether nobody who could write the member says any more that the device is theirs, and somebody who could has left it out.
  /// Whoever has the key of a device may have a stranger certify it.
  private func isLeftOut(_ device: DeviceID, of member: MemberID) -> Bool {
    let former = people.whoLeftOut(device)
    if former.isEmpty { return false }
    let links: MemberLinks
    do { links = try self.links(of: member) } catch {
      // Of a member whose root does not hold no head counts.
      return false
    }
    return former.contains(where: links.couldWrite)
      && !people.persons.values.contains { person in
        let isTheirs = person.devices[device] != nil || person.waiting[device] != nil
        return isTheirs && links.couldWrite(person.id)
      }
  }

  /// How far a register's device had counted when it signed this file, whether the file counts or not; nil for one that the
  /// device has not signed. The device is one that somebody has certified.
  package func signedCounter(of path: VaultPath, _ bytes: [UInt8]) -> UInt64? {
    let files = holding(path, bytes)
    do {
      switch path {
      case .head(let member, let device):
        let (body, file) = try files.loadHeadWithoutVerifying(of: device, in: member)
        guard let key = certified(device)?.certificate.signingKey,
          SignatureCheck.ed25519.isRight(
            files.binding.vault.signedMessage(.head, file.file.body), file.file.signature, key)
        else { return nil }
        return body.counter
      case .device(let person, let device):
        guard let key = certified(device)?.certificate.signingKey else { return nil }
        return try files.loadRegisterBody(
          of: device, person: person, signingPublicKey: key.bytes
        ).body.counter
      default: return nil
      }
    } catch {
      return nil
    }
  }

  func judge(
    _ member: MemberID, _ device: DeviceID, in files: SignedFiles
  ) throws(VaultError) -> JudgedHead {
    try HeadJudges(people: people, links: links(of: member), current: nil, own: nil)
      .judge(device, in: files)
  }
}

extension SignedVerdict {
  /// - Throws: The error, where it is not the file's.
  fileprivate static func broken(ofFile error: VaultError) throws(VaultError) -> SignedVerdict {
    if error.isOfTheMachine { throw error }
    return .broken(error)
  }
}

extension SignedFacts {
  init(_ head: JudgedHead) {
    self.init(counter: head.body.counter, hash: head.hash, previous: head.body.previous)
  }
}
