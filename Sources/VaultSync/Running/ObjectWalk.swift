import Threads
import Vault
import VaultErrors
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
    /// What names it; nil for a revision.
    var asker: Asker?
    /// It is a revision that another one of the walk has replaced: history may end before it.
    var isReplaced = false

    var digest: ContentDigest { reference.digest }
    var kind: ObjectKind { reference.kind }
  }

  /// An object that needs others, and what needs it in turn, up to a revision.
  final class Asker: Sendable {
    let digest: ContentDigest
    let asker: Asker?

    init(_ digest: ContentDigest, _ asker: Asker?) { (self.digest, self.asker) = (digest, asker) }
  }

  /// What could not be brought.
  struct Failure: Sendable {
    var digest: ContentDigest
    var error: VaultError
    /// The revisions among those that were asked for which are not whole without it.
    var neededBy: Set<ContentDigest>
    /// Only revisions need it that were replaced: history ends where one is not whole.
    var isHistory: Bool { neededBy.isEmpty }
  }

  /// What came of a walk.
  struct Outcome: Sendable {
    var failures: [Failure] = []
    /// Everything that came, with all that it needs.
    var whole: Set<ContentDigest> = []
    /// The revisions that were replaced and cannot be had whole.
    var brokenHistory: Set<ContentDigest> = []
  }

  private struct State {
    var asked: Set<ContentDigest> = []
    /// What was asked for first: what is current.
    var current: Set<ContentDigest> = []
    /// Who else needs what was asked for already.
    var furtherAskers: [ContentDigest: [Asker]] = [:]
    /// The revisions that were asked for as they had been replaced.
    var replaced: Set<ContentDigest> = []
    var failures: [(need: Need, error: VaultError)] = []
    var fatal: SyncError?
  }

  private let transfer: Transfer
  private let queue = WorkQueue<Need>()
  private let state = Guarded(State())

  init(_ transfer: Transfer) { self.transfer = transfer }

  /// Brings these and all they name.
  ///
  /// - Throws: What ended the walk early.
  func run(_ needs: [Need], threadCount: Int) throws(SyncError) -> Outcome {
    state.withLock { $0.current.formUnion(needs.map(\.digest)) }
    add(needs)
    queue.run(threadCount: threadCount) { self.process($0) }
    if let fatal = state.withLock({ $0.fatal }) { throw fatal }
    return state.withLock { Self.outcome($0) }
  }

  private func add(_ needs: [Need]) {
    if needs.isEmpty { return }
    let new = state.withLock { state in
      needs.filter { need in
        if state.asked.insert(need.digest).inserted {
          if need.isReplaced { state.replaced.insert(need.digest) }
          return true
        }
        if let asker = need.asker { state.furtherAskers[need.digest, default: []].append(asker) }
        return false
      }
    }
    queue.add(new)
  }

  /// Several may need what failed, and only one of them has asked for it: who came first says nothing of the others.
  private static func outcome(_ state: State) -> Outcome {
    var outcome = Outcome()
    var broken: Set<ContentDigest> = []
    for (need, error) in state.failures {
      let needing = whatNeeds(need, state)
      broken.formUnion(needing)
      outcome.failures.append(
        Failure(
          digest: need.digest, error: error, neededBy: needing.intersection(state.current)))
    }
    outcome.whole = state.asked.subtracting(broken)
    outcome.brokenHistory = state.replaced.intersection(broken)
    return outcome
  }

  /// What was asked for, and everything that is not whole without it.
  private static func whatNeeds(_ need: Need, _ state: State) -> Set<ContentDigest> {
    var found: Set<ContentDigest> = [need.digest]
    var waiting = (need.asker.map { [$0] } ?? []) + (state.furtherAskers[need.digest] ?? [])
    while let asker = waiting.popLast() {
      guard found.insert(asker.digest).inserted else { continue }
      if let next = asker.asker { waiting.append(next) }
      waiting += state.furtherAskers[asker.digest] ?? []
    }
    return found
  }

  private func process(_ need: Need) {
    do {
      guard
        let content = try transfer.bring(need.reference, isReplaced: need.isReplaced)
      else { return }
      add(try children(of: need, content))
    } catch {
      switch error {
      case .object(let error):
        state.withLock { $0.failures.append((need, error)) }
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
    do { content = try ObjectContent(decoding: bytes, need.kind) } catch {
      throw .object(VaultError(error, path: "an object that was \(need.kind)"))
    }
    guard let revision = content.revision else {
      return news(in: content, of: need, over: names(before: need.before))
    }
    if !need.isReplaced { transfer.note(revision, named: need.digest) }
    let older = revision.previous.filter { held($0) == nil }
    let base = nearestHeld(before: revision)
    return older.map { Need(reference: .revision($0), isReplaced: true) }
      + news(in: content, of: need, over: base.map(need.reference.references) ?? [])
  }

  /// So many revisions are looked at to find one that is there: as many as a record gets in a day without a sync.
  private static var baseDepth: Int { 64 }

  /// The nearest revision that this one has replaced, in one step or several, and that is there. Of a record that was changed
  /// more than once since, or joined and changed, those in between are news as well.
  private func nearestHeld(before revision: RecordRevision) -> ObjectContent? {
    var waiting = revision.previous[...]
    var seen = Set(waiting)
    while let name = waiting.popFirst(), seen.count <= Self.baseDepth {
      guard let found = peek(.revision(name)), let older = found.revision else { continue }
      if transfer.holds(older) { return found }
      waiting += older.previous.filter { seen.insert($0).inserted }
    }
    return nil
  }

  /// The revision, if it is there.
  private func held(_ name: ContentDigest) -> ObjectContent? {
    let found = peek(.revision(name))
    return found?.revision.map(transfer.holds) ?? false ? found : nil
  }

  /// What an object names, but for what is there since it was named before.
  private func news(
    in content: ObjectContent, of need: Need, over old: [ObjectReference]
  ) -> [Need] {
    let known = Set(old.map(\.digest))
    let asker = Asker(need.digest, need.asker)
    return need.reference.references(in: content).filter { !known.contains($0.digest) }.map {
      Need(reference: $0, before: before($0, among: old), asker: asker)
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
