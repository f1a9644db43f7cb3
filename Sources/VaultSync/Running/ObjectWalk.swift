import Threads
import Vault
import VaultModel

/// Brings revisions to where they lack, with all that they name: pages, lists of chunks, chunks, and the revisions that
/// they replaced, as far back as they lack.
///
/// What a revision has in common with one that it replaced and that is there is passed over, so an edited note of a
/// record with ten thousand files moves the note. Works on several threads, and not level by level.
final class ObjectWalk<Transfer: ObjectTransfer>: Sendable {
  /// What was there before in the place of what is needed.
  enum Before: Sendable {
    case nothing
    /// This object, of which what it names is there, too.
    case object(ObjectReference)
    /// Nothing of its kind, and these, which may stand below it: where a leaf has become a tree.
    case contents([ObjectReference])
  }

  struct Need: Sendable {
    var reference: ObjectReference
    var before = Before.nothing
    /// The older revision that needs it, where nothing else does: history ends where one is not whole.
    var olderRevision: ContentDigest?

    var digest: ContentDigest { reference.digest }
    var kind: ObjectKind { reference.kind }
  }

  /// What could not be brought.
  struct Failure: Sendable {
    var digest: ContentDigest
    var error: VaultError
    /// As `Need.olderRevision`.
    var olderRevision: ContentDigest?

    var isHistory: Bool { olderRevision != nil }
  }

  private struct State {
    var asked: Set<ContentDigest> = []
    var failures: [Failure] = []
    var fatal: SyncError?
  }

  private let transfer: Transfer
  private let queue = WorkQueue<Need>()
  private let state = Guarded(State())

  init(_ transfer: Transfer) { self.transfer = transfer }

  /// Everything that was asked for.
  var asked: Set<ContentDigest> { state.withLock { $0.asked } }

  /// Brings these and all they name.
  ///
  /// - Returns: What could not be brought; empty when all is there.
  /// - Throws: What ended the walk early.
  func run(_ needs: [Need], threadCount: Int) throws(SyncError) -> [Failure] {
    add(needs)
    queue.run(threadCount: threadCount) { self.process($0) }
    let (failures, fatal) = state.withLock { ($0.failures, $0.fatal) }
    if let fatal { throw fatal }
    return failures
  }

  private func add(_ needs: [Need]) {
    if needs.isEmpty { return }
    queue.add(state.withLock { state in needs.filter { state.asked.insert($0.digest).inserted } })
  }

  private func process(_ need: Need) {
    do throws(TransferFailure) {
      let isReplaced = need.olderRevision == need.digest
      guard
        let content = try transfer.bring(need.digest, kind: need.kind, isReplaced: isReplaced)
      else { return }
      add(try children(of: need, content))
    } catch {
      switch error {
      case .object(let error):
        let failure = Failure(
          digest: need.digest, error: error, olderRevision: need.olderRevision)
        state.withLock { $0.failures.append(failure) }
      case .fatal(let error):
        state.withLock { $0.fatal = $0.fatal ?? error }
        queue.stop()
      }
    }
  }

  // MARK: What an object names

  // Whatever is named is brought, also where it may not stand: whoever reads it judges that.

  private func children(of need: Need, _ bytes: [UInt8]) throws(TransferFailure) -> [Need] {
    let content: ObjectContent
    do throws(ModelError) { content = try ObjectContent(decoding: bytes, need.kind) } catch {
      throw .object(VaultError(error, path: "an object that was \(need.kind)"))
    }
    guard let revision = content.revision else {
      return news(in: content, of: need, over: names(before: need.before))
    }
    if need.olderRevision == nil { transfer.note(revision, named: need.digest) }
    var older: [Need] = []
    var base: ObjectContent?
    for name in revision.previous {
      if let found = peek(.revision(name)), found.revision.map(transfer.holds) ?? false {
        base = base ?? found
      } else {
        older.append(Need(reference: .revision(name), olderRevision: name))
      }
    }
    return older + news(in: content, of: need, over: base.map(need.reference.references) ?? [])
  }

  /// What an object names, but for what is there since it was named before.
  private func news(
    in content: ObjectContent, of need: Need, over old: [ObjectReference]
  ) -> [Need] {
    let known = Set(old.map(\.digest))
    return need.reference.references(in: content).filter { !known.contains($0.digest) }.map {
      Need(
        reference: $0, before: before($0, among: old), olderRevision: need.olderRevision)
    }
  }

  private func before(_ reference: ObjectReference, among old: [ObjectReference]) -> Before {
    if reference.kind == .chunk || old.isEmpty { return .nothing }
    if let same = old.first(where: reference.replaces) { return .object(same) }
    // A leaf that became a branch had all the items that may be below.
    return reference.kind == .page ? .contents(old) : .nothing
  }

  private func names(before: Before) -> [ObjectReference] {
    switch before {
    case .nothing: []
    case .object(let reference): names(in: reference)
    case .contents(let references): references
    }
  }

  // MARK: What is here

  private func names(in reference: ObjectReference) -> [ObjectReference] {
    peek(reference).map(reference.references) ?? []
  }

  /// What does not decode is as good as not there: then more is brought than need be.
  private func peek(_ reference: ObjectReference) -> ObjectContent? {
    guard let bytes = transfer.peek(reference.digest, kind: reference.kind) else { return nil }
    do { return try ObjectContent(decoding: bytes, reference.kind) } catch { return nil }
  }
}
