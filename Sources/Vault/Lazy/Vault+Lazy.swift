import BlobStore
import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What `fetch` or `evict` did.
package struct LazyReport: Sendable {
  package var chunkCount = 0
  package var byteCount: UInt64 = 0
  /// Chunks that stay because no remote surely has them.
  package var keptCount = 0
  /// Why a remote could not be asked whether it has some of those; nil where each was.
  package var silence: String?

  package init() {}
}

/// What a trimming of the cache has left.
struct CacheTrim: Sendable {
  /// The settings by which it was trimmed.
  let settings: LazySettings
  /// The bytes of everything that was here afterwards.
  let byteCount: UInt64
}

extension Vault {
  /// Which chunks may be absent on this machine, as this process knows it; nil for a vault that is wholly here.
  package var lazySettings: LazySettings? { context.lazySettings.withLock { $0 } }

  /// What brings those here; nil for a vault that is wholly here.
  package var lazyChunks: LazyChunks? { context.lazy }

  /// Changes what is always here. On disk when it returns; fetches nothing by itself.
  ///
  /// - Throws: `notFound` for a vault that is wholly here anyway.
  package func setLazySettings(
    _ change: (inout LazySettings) -> Void
  ) throws(VaultError) {
    guard let known = lazySettings else {
      throw .notFound(what: "part of this vault that is elsewhere")
    }
    try context.state.withLock("lazy-lock") { () throws(VaultError) in
      var settings = try context.state.loadLazySettings() ?? known
      change(&settings)
      try context.state.storeLazySettings(settings)
      context.lazySettings.withLock { $0 = settings }
    }
  }

  /// Brings every chunk of a record, and of those below it, here.
  ///
  /// - Throws: `away`, `gone`, `damaged`, `noSpace`; what came until then stays.
  package func fetch(
    _ record: RecordID, of member: Member,
    progress: (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> LazyReport {
    var report = LazyReport()
    var needed: [(name: ContentDigest, byteCount: UInt64)] = []
    for (name, byteCount) in try member.chunksBelow(record)
    where try !member.objects.isPresent(name) {
      needed.append((name, byteCount))
    }
    for (count, (name, byteCount)) in needed.enumerated() {
      guard let lazy = context.lazy else {
        throw .missing(path: member.objects.path(of: name).string)
      }
      try lazy.fetch(name, for: member.objects)
      report.chunkCount += 1
      report.byteCount += byteCount
      progress(
        WorkProgress(
          label: member.name.string, done: UInt64(count + 1), total: UInt64(needed.count)))
    }
    return report
  }

  /// Brings what is pinned here and lets go of what the cache has no room for: after a sync brought news. Does nothing
  /// for a vault that is wholly here.
  ///
  /// - Throws: `away`, `gone` or `damaged` when something pinned cannot be had, once everything else was done; what asking the
  ///   remote throws.
  package func tendCache() throws(VaultError) {
    guard let (_, settings) = try lazyAsOfNow() else { return }
    var failure: VaultError?
    for pin in settings.pins {
      guard let member = member(pin.member) else { continue }
      do { _ = try fetch(pin.record, of: member) } catch {
        failure = failure ?? error
      }
    }
    _ = try trimCache()
    if let failure { throw failure }
  }

  /// Removes the chunks of a record, and of those below it, that a remote surely has and that nothing pins; also those that
  /// only their older versions need.
  ///
  /// - Throws: What asking the remote throws.
  package func evict(
    _ record: RecordID, of member: Member
  ) throws(VaultError) -> LazyReport {
    guard let (lazy, settings) = try lazyAsOfNow() else {
      throw .notFound(what: "part of this vault that is elsewhere")
    }
    var report = LazyReport()
    let pinned = try pinnedChunks(of: member, settings)
    let current = try member.chunksBelow(record)
    let all = member.listOlderChunks(below: record).merging(current) { $1 }
    for (name, byteCount) in all where !pinned.contains(name) {
      try evict((member, name, byteCount), lazy, &report)
    }
    return report
  }

  /// Removes chunks until those that nothing pins take no more than the cache's limit, those used last at last; what only older
  /// versions need counts too. Those of a damaged record stay: what it needs cannot be told, and it may be mended with them.
  ///
  /// To know them it looks through all records and their history. So once it has, it does nothing before what is here has grown
  /// by a tenth of the limit, or the settings are others.
  package func trimCache() throws(VaultError) -> LazyReport {
    var report = LazyReport()
    guard let (lazy, settings) = try lazyAsOfNow(), let limit = settings.cacheByteLimit else {
      return report
    }
    var here: [(member: Member, sizes: [ObjectName: UInt64])] = []
    for member in members {
      let listed = try member.objects.listed().map { ($0.name, $0.byteCount) }
      here.append((member, Dictionary(listed) { first, _ in first }))
    }
    // Everything that is here takes no more: so do the chunks among it.
    let taken: UInt64 = here.reduce(0) { sum, one in one.sizes.values.reduce(sum, +) }
    guard taken > limit else { return report }
    let last = context.lastTrim.withLock { $0 }
    if let last, last.settings == settings, taken <= last.byteCount + limit / 10 { return report }
    let candidates = here.flatMap { cached($0.member, among: $0.sizes, besides: settings.pins) }
    var total: UInt64 = candidates.reduce(0) { $0 + $1.byteCount }
    let byUse = candidates.sorted {
      (lazy.lastUse(of: $0.name), $0.name) < (lazy.lastUse(of: $1.name), $1.name)
    }
    for chunk in byUse where total > limit {
      let before = report.byteCount
      try evict(chunk, lazy, &report)
      total -= report.byteCount - before
    }
    let left = CacheTrim(settings: settings, byteCount: taken - min(taken, report.byteCount))
    // What had to stay may go as soon as a remote has it.
    let isDone = total <= limit
    context.lastTrim.withLock { $0 = isDone ? left : nil }
    return report
  }

  private typealias CachedChunk = (member: Member, name: ContentDigest, byteCount: UInt64)

  /// The chunks of a member that are here and need not be.
  private func cached(
    _ member: Member, among sizes: [ObjectName: UInt64], besides pins: Set<LazySettings.Pin>
  ) -> [CachedChunk] {
    let chunks = member.chunksOfCache(besides: pins)
    return member.objects.places(of: chunks.keys, among: sizes).keys.map {
      (member, $0, chunks[$0] ?? 0)
    }
  }

  /// With the settings as another process may have left them since: what it has pinned goes no more. Nil for a vault that is
  /// wholly here by now.
  private func lazyAsOfNow() throws(VaultError) -> (LazyChunks, LazySettings)? {
    guard let lazy = context.lazy, let settings = try context.state.loadLazySettings() else {
      return nil
    }
    context.lazySettings.withLock { $0 = settings }
    return (lazy, settings)
  }

  private func evict(
    _ chunk: CachedChunk, _ lazy: LazyChunks, _ report: inout LazyReport
  ) throws(VaultError) {
    let objects = chunk.member.objects
    // What is about to be named again is needed here, whoever has it.
    guard !objects.isStaged(chunk.name), let here = try objects.nameHere(of: chunk.name) else {
      return
    }
    let size = try storing(context.store.size(of: objects.path(of: here)))
    // What an upload left torn there is nothing that could come back.
    guard let size, try isHeld(here, byteCount: size, of: chunk.member, lazy, &report) else {
      report.keptCount += 1
      return
    }
    try objects.withdraw(here)
    report.chunkCount += 1
    report.byteCount += chunk.byteCount
  }

  /// Whether a remote surely has the object: not if none that can be asked has it.
  private func isHeld(
    _ name: ObjectName, byteCount: UInt64, of member: Member, _ lazy: LazyChunks,
    _ report: inout LazyReport
  ) throws(VaultError) -> Bool {
    do {
      return try lazy.holds(
        name, byteCount: byteCount, of: member.id, under: member.standingHead)
    } catch {
      guard case .away(_, let reason) = error else { throw error }
      report.silence = report.silence ?? reason
      return false
    }
  }

  private func pinnedChunks(
    of member: Member, _ settings: LazySettings
  ) throws(VaultError) -> Set<ContentDigest> {
    var pinned: Set<ContentDigest> = []
    for pin in settings.pins where pin.member == member.id {
      pinned.formUnion(try member.chunksBelow(pin.record).keys)
    }
    return pinned
  }
}

extension Member {
  /// This device's newest head, which names what it has written; nil if there is none.
  fileprivate var standingHead: StandingHead? {
    let device = context.device.id
    return heads.withLock { heads in
      heads.last(of: device).map {
        StandingHead(path: register.path(of: device), counter: $0.counter, hash: $0.hash)
      }
    }
  }

  /// Brings here what contents of these edits need that no file of the records has now.
  ///
  /// - Throws: `away` of what cannot be had now; `gone` of what nobody has.
  func fetchWhatComesBack(_ edits: [RecordEdit]) throws(VaultError) {
    guard objects.isLazy else { return }
    for edit in edits where !edit.isNew {
      guard let entry = entry(edit.record) else { continue }
      let current = entry.isDeleted ? [] : try readableItems(of: revision(entry.revision)).items
      for case let item? in edit.items.values
      where !current.contains(where: { $0.content == item.content }) {
        for case let chunk? in try chunks(of: item.content) where !objects.isStaged(chunk) {
          do { try objects.fetchIfAway(chunk) } catch {
            guard case .gone(let path, _) = error else { throw error }
            throw .gone(path: path, record: edit.record)
          }
        }
      }
    }
  }

  /// The chunks of a record and of those below it, with the bytes that each takes: of what shows and can be opened, so not
  /// of older revisions, nor of versions that wait to be joined.
  ///
  /// - Throws: `missing`, `damaged`.
  func chunksBelow(_ top: RecordID) throws(VaultError) -> [ContentDigest: UInt64] {
    let list = listChunks(below: top)
    if let failure = list.failure { throw failure }
    return list.ofWhole
  }

  /// The chunks of a record and of those below it, where some of these records may be damaged.
  fileprivate func listChunks(below top: RecordID) -> ChunkList {
    var list = ChunkList()
    for entry in entries(below: top) {
      var found: [ContentDigest: UInt64] = [:]
      var failure: VaultError?
      _ = MemberWalk(member: self, readsAhead: true).walk(
        revision: entry.revision, of: entry.record, isOnlyInHistory: false,
        visit: { object in found[object.digest] = object.chunkByteCount },
        fail: { failure = failure ?? $1 })
      list.add(found, failure)
    }
    return list
  }

  /// The chunks that only older versions of these records need and, for a whole member, deleted ones, with the bytes that each
  /// takes; without those of damaged records.
  fileprivate func listOlderChunks(below top: RecordID) -> [ContentDigest: UInt64] {
    let wanted = top == .root ? nil : Set(entries(below: top).map(\.record))
    var found: [RecordID: [ContentDigest: UInt64]] = [:]
    var current: Set<ContentDigest> = []
    var damaged: Set<RecordID> = []
    MemberWalk(member: self, readsAhead: true).walkAll(
      where: { wanted?.contains($0.record) ?? true }, keeps: { _, _ in true },
      visit: { object in
        guard let byteCount = object.chunkByteCount else { return }
        if object.isOnlyInHistory {
          found[object.record, default: [:]][object.digest] = byteCount
        } else {
          current.insert(object.digest)
        }
      },
      fail: { object, _ in if !object.isOnlyInHistory { damaged.insert(object.record) } },
      progress: { _ in })
    return found.filter { !damaged.contains($0.key) }.values.reduce(into: [:]) { chunks, older in
      chunks.merge(older.filter { !current.contains($0.key) }) { first, _ in first }
    }
  }

  /// The chunks that need not stay here, whether they are here or not, with the bytes that each takes.
  fileprivate func chunksOfCache(besides pins: Set<LazySettings.Pin>) -> [ContentDigest: UInt64] {
    let all = listChunks(below: .root)
    var kept = all.ofDamaged
    for pin in pins where pin.member == id {
      kept.formUnion(listChunks(below: pin.record).ofWhole.keys)
    }
    let chunks = listOlderChunks(below: .root).merging(all.ofWhole) { $1 }
    return chunks.filter { !kept.contains($0.key) }
  }

  /// A record and those below it, as they show.
  private func entries(below top: RecordID) -> [RecordEntry] {
    var found: [RecordEntry] = []
    var waiting = [top]
    var seen: Set<RecordID> = [top]
    while let record = waiting.popLast() {
      guard let entry = entry(record), !entry.isDeleted else { continue }
      found.append(entry)
      for child in children(of: record) where seen.insert(child.record).inserted {
        waiting.append(child.record)
      }
    }
    return found
  }
}

extension VisitedObject {
  /// The bytes that it takes where it is a chunk; nil for everything else.
  var chunkByteCount: UInt64? {
    contentByteCount.map { UInt64(ObjectLayout(of: .chunk).fileSize(contentSize: $0)) }
  }
}

/// The chunks of some records.
private struct ChunkList {
  /// With the bytes that each takes.
  private(set) var ofWhole: [ContentDigest: UInt64] = [:]
  /// As far as they are known.
  private(set) var ofDamaged: Set<ContentDigest> = []
  /// The first thing that is wrong with the damaged ones.
  private(set) var failure: VaultError?

  mutating func add(_ chunks: [ContentDigest: UInt64], _ failure: VaultError?) {
    guard let failure else { return ofWhole.merge(chunks) { first, _ in first } }
    ofDamaged.formUnion(chunks.keys)
    self.failure = self.failure ?? failure
  }
}
