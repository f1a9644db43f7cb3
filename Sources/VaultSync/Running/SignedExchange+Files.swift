import BlobStore
import Vault
import VaultModel

/// What a sync asks for of the files themselves, after they were judged.
extension SignedExchange {
  /// A file of the remote that holds, with what it says; nil when it cannot be had any more, which is noted.
  func fetched(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    if let bytes = judged.bytes[path], let facts = judged.facts[path] { return (bytes, facts) }
    guard let bytes = try session.readListed(path) else { return nil }
    do throws(VaultError) { return (bytes, try tree.verify(path, bytes)) } catch {
      session.note(SyncProblem(error, there: path.string))
      return nil
    }
  }

  /// A file that is here, as it stands now, if it holds. One that holds by what has come here since is for the next sync;
  /// one that does not, by what the remote shows, stays where it is, and keeps nothing else from being sent.
  func stored(_ path: VaultPath) throws(SyncError) -> (bytes: [UInt8], facts: SignedFacts)? {
    let bytes: [UInt8]
    do throws(BlobStoreError) {
      bytes = try session.home.store.read(
        BlobPath(path.string), limit: Limits.signedFileBytes)
    } catch {
      if case .notFound = error { return nil }
      throw .vault(VaultError(error))
    }
    do throws(VaultError) { return (bytes, try tree.verify(path, bytes)) } catch {
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
}
