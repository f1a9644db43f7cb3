import BlobStore
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// What a sync asks for of the files themselves, after they were judged.
extension SignedExchange {
  /// A file of the remote that holds, with what it says; nil when it cannot be had any more, which is noted.
  func fetched(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    if let bytes = judged.bytes[path], let facts = judged.facts[path] { return (bytes, facts) }
    guard let bytes = try session.readListed(path) else { return nil }
    do { return (bytes, try tree.verify(path, bytes)) } catch {
      session.note(SyncProblem(error, there: path.string))
      return nil
    }
  }

  /// A file that is here, as it stands now, if it holds. One that holds by what has come here since is for the next sync;
  /// one that does not, by what the remote shows, stays where it is, and keeps nothing else from being sent.
  func stored(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    let bytes: [UInt8]
    do {
      bytes = try session.home.store.read(
        BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return nil }
      throw .vault(VaultError(error))
    }
    do { return (bytes, try tree.verify(path, bytes)) } catch {
      guard error.isDamage else { throw .vault(error) }
      if try !holdsByNow(path, bytes) { session.note(SyncProblem(error, here: path.string)) }
      return nil
    }
  }

  private func holdsByNow(_ path: VaultPath, _ bytes: [UInt8]) throws(SyncError) -> Bool {
    let now = try session.home.tree()
    return try keeping { () throws(VaultError) in
      do throws(VaultError) { _ = try now.verify(path, bytes) } catch {
        if error.isDamage { return false }
        throw error
      }
      return true
    }
  }

  // MARK: Heads

  typealias HeadFile = (path: VaultPath, bytes: [UInt8], facts: SignedFacts)

  /// Puts heads of a member on the remote, in this order. None, if the remote went back since it was looked at: what they
  /// name may be gone from there. The next sync sees what is missing, and puts it there anew.
  ///
  /// - Returns: Whether any was put.
  func put(_ heads: [HeadFile], of member: MemberID) throws(SyncError) -> Bool {
    var wanted: [HeadFile] = []
    for head in heads {
      switch try change(of: head.path) {
      case .older:
        session.note(.wentBackMeanwhile(head.path))
        session.noteLoss()
        return false
      // Someone else may have carried a newer one there meanwhile.
      case .other(let counter) where !isOwn(head.path) && counter > head.facts.counter: continue
      case .other, .none: wanted.append(head)
      }
    }
    if wanted.isEmpty { return false }
    try session.keepComparison()
    for head in wanted { try session.put(head.path, head.bytes, head.facts) }
    if try !session.hasKeptObjects(of: member) {
      session.note(.goneMeanwhile(member))
      session.noteLoss()
    }
    return true
  }

  private func isOwn(_ path: VaultPath) -> Bool {
    if case .head(_, session.home.device) = path { true } else { false }
  }

  /// What has become of a head on the remote since it was looked at.
  private enum Change {
    case none
    /// It is gone, or one from before stands there.
    case older
    case other(counter: UInt64)
  }

  private func change(of path: VaultPath) throws(SyncError) -> Change {
    let seen = there[path]
    // Where none stood, that of another device may have come since, from the device itself.
    if seen == nil, isOwn(path) { return .none }
    let bytes: [UInt8]
    do {
      bytes = try session.remote.read(BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return seen == nil ? .none : .older }
      guard error.concernsOneFile else { throw .remote(error) }
      return .none
    }
    // What was there from the beginning is to be replaced, whatever its counter: it is of a line that was taken over.
    if let seen, Digest.sha256(bytes) == seen.hash { return .none }
    guard case .counts(let facts) = try keeping(tree.verdict(on: path, bytes)) else {
      return .none
    }
    if let seen, facts.counter < seen.counter { return .older }
    return .other(counter: facts.counter)
  }
}
