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
    case page(ContentDigest)
    case items([Item])
    case index(ContentDigest)
  }

  struct Need: Sendable {
    var digest: ContentDigest
    var kind: ObjectKind
    var before = Before.nothing
    /// The older revision that needs it, where nothing else does: history ends where one is not whole.
    var olderRevision: ContentDigest?
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

  private func children(of need: Need, _ content: [UInt8]) throws(TransferFailure) -> [Need] {
    do throws(ModelError) {
      switch need.kind {
      case .chunk, .segment, .announcement, .authored: return []
      case .record:
        return children(of: try RecordRevision(decoding: content), need.olderRevision)
      case .page:
        return children(of: try ItemPage(decoding: content), need)
      case .index:
        var known: Set<ContentDigest> = []
        if case .index(let before) = need.before { known = names(inIndex: before) }
        return chunks(
          try ChunkIndex(decoding: content).chunks, without: known, need.olderRevision)
      }
    } catch {
      throw .object(VaultError(error, path: "an object that was \(need.kind)"))
    }
  }

  private func children(of revision: RecordRevision, _ older: ContentDigest?) -> [Need] {
    var needs: [Need] = []
    var base: RecordRevision?
    for name in revision.previous {
      if let found = peekRevision(name), transfer.holds(found) {
        base = base ?? found
      } else {
        needs.append(Need(digest: name, kind: .record, olderRevision: name))
      }
    }
    if let page = revision.items.rootPage {
      if page != base?.items.rootPage {
        needs.append(
          Need(digest: page, kind: .page, before: before(base), olderRevision: older))
      }
    } else {
      needs += contents(revision.items.loadedItems, over: base?.items.loadedItems ?? [], older)
    }
    needs += contents(
      revision.document.map { [$0] } ?? [], over: base?.document.map { [$0] } ?? [], older)
    return needs
  }

  private func before(_ base: RecordRevision?) -> Before {
    guard let base else { return .nothing }
    return base.items.rootPage.map(Before.page) ?? .items(base.items.loadedItems)
  }

  private func children(of page: ItemPage, _ need: Need) -> [Need] {
    switch page {
    case .leaf(let items):
      return contents(
        items, over: self.items(need.before), need.olderRevision)
    case .branch(let children):
      var olds = [ContentDigest?](repeating: nil, count: children.count)
      if case .page(let name) = need.before, case .branch(let found)? = peekPage(name) {
        olds = found
      }
      return zip(children, olds).compactMap { child, old in
        guard let child, child != old else { return nil }
        // A leaf that became a branch had all the items that may be below.
        return Need(
          digest: child, kind: .page, before: old.map(Before.page) ?? asItems(need.before),
          olderRevision: need.olderRevision)
      }
    }
  }

  private func asItems(_ before: Before) -> Before {
    let items = self.items(before)
    return items.isEmpty ? .nothing : .items(items)
  }

  private func items(_ before: Before) -> [Item] {
    switch before {
    case .items(let items): return items
    case .page(let name):
      if case .leaf(let items)? = peekPage(name) { return items }
      return []
    case .nothing, .index: return []
    }
  }

  private func contents(_ items: [Item], over old: [Item], _ older: ContentDigest?) -> [Need] {
    var known: Set<ContentDigest> = []
    var oldIndexes: [FileName: [ContentDigest]] = [:]
    for item in old {
      switch item.content {
      case .chunks(let names): known.formUnion(names.compactMap(\.self))
      case .indexes(let names):
        known.formUnion(names)
        oldIndexes[item.name] = names
      case .none, .inline, .symlink: break
      }
    }
    var needs: [Need] = []
    for item in items where !item.isDeleted {
      switch item.content {
      case .chunks(let names): needs += chunks(names, without: known, older)
      case .indexes(let names):
        let before = oldIndexes[item.name] ?? []
        for (position, name) in names.enumerated() where !known.contains(name) {
          needs.append(
            Need(
              digest: name, kind: .index,
              before: position < before.count ? .index(before[position]) : .nothing,
              olderRevision: older))
        }
      case .none, .inline, .symlink: break
      }
    }
    return needs
  }

  private func chunks(
    _ names: [ContentDigest?], without known: Set<ContentDigest>, _ older: ContentDigest?
  ) -> [Need] {
    names.compactMap { name in
      guard let name, !known.contains(name) else { return nil }
      return Need(digest: name, kind: .chunk, olderRevision: older)
    }
  }

  // MARK: What is here

  // What does not decode is as good as not there: then more is brought than need be.

  private func peekRevision(_ name: ContentDigest) -> RecordRevision? {
    guard let content = transfer.peek(name, kind: .record) else { return nil }
    do { return try RecordRevision(decoding: content) } catch { return nil }
  }

  private func peekPage(_ name: ContentDigest) -> ItemPage? {
    guard let content = transfer.peek(name, kind: .page) else { return nil }
    do { return try ItemPage(decoding: content) } catch { return nil }
  }

  private func names(inIndex name: ContentDigest) -> Set<ContentDigest> {
    guard let content = transfer.peek(name, kind: .index) else { return [] }
    do { return Set(try ChunkIndex(decoding: content).chunks.compactMap(\.self)) } catch {
      return []
    }
  }
}
