import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople
import VaultTrust

/// Whose a revision is, as far as a reader can tell: Docs/Format.md, "Whose a revision is".
package enum Authorship: Hashable, Sendable {
  /// A device of this person has signed it.
  case signed(Author)
  /// A join of two revisions: every device makes the same of them, and whose each of them is has to be asked of it.
  case joined
  /// By somebody who may write the member; who that is cannot be told.
  case brought

  package struct Author: Hashable, Sendable {
    package let device: DeviceID
    package let person: PersonID
    package let standing: Standing
  }

  /// What a right signature is worth.
  package enum Standing: Hashable, Sendable {
    case counts
    /// Its person has left the device out since, and listed the revision then.
    case listed
    /// Its person has left the device out and, as far as the lists are here, not listed the revision: whoever has the
    /// device may have signed it since.
    case unlisted
  }
}

extension Member {
  /// Whose a revision is. Reads the whole revision, and for a join those that it was made of.
  ///
  /// - Throws: `missing`, `damaged` of the revision itself; `io`.
  package func authorship(of digest: ContentDigest) throws(VaultError) -> Authorship {
    let revision = try revision(digest)
    if revision.signature != nil {
      let bytes = try objects.content(digest, kind: .record)
      return try author(of: revision, digest, bytes).map(Authorship.signed) ?? .brought
    }
    return try isJoin(revision, digest) ? .joined : .brought
  }

  /// Whose the revisions are that a join was made from, signed or brought: of joins among them those that they were made
  /// from. Of more than 64 revisions it says `joined` for the rest.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  package func authorsJoined(in digest: ContentDigest) throws(VaultError) -> Set<Authorship> {
    var found: Set<Authorship> = []
    var seen: Set = [digest]
    var waiting = [digest]
    while let join = waiting.popLast() {
      guard seen.count <= 64 else {
        found.insert(.joined)
        break
      }
      for part in try revision(join).previous where seen.insert(part).inserted {
        let whose = try authorship(of: part)
        if whose == .joined { waiting.append(part) } else { found.insert(whose) }
      }
    }
    return found
  }

  /// Whether this device has signed the revision.
  ///
  /// - Throws: `missing`, `damaged`, `io`.
  func isSigned(_ digest: ContentDigest, by device: DeviceID) throws(VaultError) -> Bool {
    let bytes = try objects.content(digest, kind: .record)
    return try author(of: try revision(digest), digest, bytes)?.device == device
  }

  /// Who has signed a revision; nil if its signature is not right.
  ///
  /// - Parameter bytes: What it is encoded as.
  /// - Throws: `io` of the lists that its person's closings name.
  func author(
    of revision: RecordRevision, _ digest: ContentDigest, _ bytes: [UInt8]
  ) throws(VaultError) -> Authorship.Author? {
    let trust = context.people.trust
    guard let signature = revision.signature, isRight(signature, of: bytes),
      let certificate = trust.statements.certificates[signature.certificate]
    else { return nil }
    var standing = Authorship.Standing.counts
    if trust.device(signature.certificate) == .former {
      standing = try isListed(digest, by: certificate.person) ? .listed : .unlisted
    }
    return Authorship.Author(
      device: certificate.device, person: certificate.person, standing: standing)
  }

  /// Whether the device with the signature's certificate has signed the revision that is encoded so.
  func isRight(_ signature: RecordRevision.Signature, of bytes: [UInt8]) -> Bool {
    guard let signed = RecordRevision.signedPart(of: bytes),
      let certificate = context.people.trust.statements.certificates[signature.certificate]
    else { return false }
    return verifySignature(
      of: context.binding.vault.signedMessage(ofRevision: signed, in: id),
      signature: signature.bytes, publicKey: certificate.signingKey.bytes)
  }

  /// Whether a list that a closing of the person names has the revision, as far as these lists are here.
  private func isListed(
    _ revision: ContentDigest, by person: PersonID
  ) throws(VaultError) -> Bool {
    for list in context.people.trust.authored(by: [person]) {
      if try authored(in: list).contains(revision) { return true }
    }
    return false
  }

  private func authored(in list: ContentDigest) throws(VaultError) -> Set<ContentDigest> {
    if let known = authoredLists.withLock({ $0[list] }) { return known }
    let bytes = try ifWhole(objects.content(list, kind: .authored))
    // One of another member, or not here yet.
    guard let bytes else { return [] }
    let revisions: Set<ContentDigest>
    do { revisions = Set(try AuthoredList(decoding: bytes).revisions) } catch {
      // Its person's closing names what is no list.
      return []
    }
    authoredLists.withLock { $0[list] = revisions }
    return revisions
  }

  /// Whether joining what the revision names gives its very bytes.
  func isJoin(
    _ revision: RecordRevision, _ digest: ContentDigest
  ) throws(VaultError) -> Bool {
    guard revision.isUnsignedJoin, revision.previous.count == 2 else { return false }
    do {
      let parts = try revision.previous.map { part throws(VaultError) in
        NamedRevision(try self.revision(part), named: part)
      }
      guard parts.allSatisfy({ $0.revision.record == revision.record }),
        try areRivals(parts[0], parts[1])
      else { return false }
      let bytes = try pages(loadPage) { load in
        var join = try Join.merge(parts[0], parts[1], load: load).merged
        return join.encode { page in page.withUnsafeBytes { HashedContent(.page, $0).digest } }
      }
      return bytes.withUnsafeBytes { HashedContent(.record, $0).digest } == digest
    } catch {
      guard error.isDamage else { throw error }
      // What it was made of is not kept any more, or not here.
      return false
    }
  }
}

extension Member {
  /// Whether devices join these: neither has seen the other, or what one of them was joined from last had not. What was begun anew
  /// to be joined has a counter of whoever did it, and so may seem to know the other one: there what it was before is asked.
  private func areRivals(_ a: NamedRevision, _ b: NamedRevision) throws(VaultError) -> Bool {
    for (one, other) in [(a, b), (b, a)] {
      if try isUnknown(one, to: other) { return true }
      guard one.revision.isUnsignedJoin else { continue }
      for part in one.revision.previous {
        if try isUnknown(NamedRevision(revision(part), named: part), to: other) { return true }
      }
    }
    return false
  }

  /// Whether these know nothing of each other, or what the first one goes on from with a version begun anew and the second do not.
  private func isUnknown(
    _ one: NamedRevision, to other: NamedRevision
  ) throws(VaultError) -> Bool {
    if one.isConcurrent(with: other) { return true }
    guard let base = one.revision.previous.first, one.revision.previous.count == 1,
      one.revision.version.names(base), !other.revision.version.names(base)
    else { return false }
    return try NamedRevision(revision(base), named: base).isConcurrent(with: other)
  }
}

extension NamedRevision {
  fileprivate func isConcurrent(with other: NamedRevision) -> Bool {
    !revision.version.names(other.digest) && !other.revision.version.names(digest)
      && revision.version.compare(to: other.revision.version) == .concurrent
  }
}

extension VaultID {
  /// What a device signs of a revision: Docs/Format.md, "Whose a revision is".
  ///
  /// - Parameter unsigned: The revision's bytes without the signature.
  func signedMessage(ofRevision unsigned: [UInt8], in member: MemberID) -> [UInt8] {
    signedMessage(.revision, member.bytes + Digest.sha256(unsigned).bytes)
  }
}
