import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// One family member, unlocked: the records, and the objects they are made of.
///
/// Which records there are, and where they stand, is answered from memory; what is in them is read from the vault's folder.
/// Safe to use from any thread.
package final class Member: Sendable {
  package let id: MemberID
  /// Other modules use the methods of `Member+Objects`, and a sync `sealedObjects`.
  let objects: ObjectStore
  let context: VaultContext
  let register: HeadRegister
  let redoLog: RedoLog
  // What is known of records. No I/O happens while this lock is held, and no other lock is taken.
  let state = Guarded(MemberState())
  // What devices had signed that their persons have removed since, by the list that says it; read as it is asked for.
  let authoredLists = Guarded<[ContentDigest: Set<ContentDigest>]>([:])
  // Held by whoever reads or writes heads, also while the disk is waited for. It is taken before the commit lock, and that is
  // taken before `state`.
  let heads: Guarded<HeadsState>
  let revisions = Guarded(RevisionCache(capacity: 64, itemLimit: 1 << 15))

  init(id: MemberID, context: VaultContext, opened: OpenedKeys) {
    self.id = id
    self.context = context
    heads = Guarded(HeadsState(epoch: opened.keys.currentEpoch))
    objects = ObjectStore(
      member: id, keys: opened.keys, store: context.store, staging: context.staging,
      lazy: context.lazy,
      buffers: context.buffers, readers: context.readers)
    redoLog = RedoLog(member: id, context: context, keys: opened.keys)
    register = HeadRegister(
      member: id, context: context, keys: opened.keys,
      known: KnownLinks(opened.links, at: context.clock.milliseconds()))
  }

  /// What the member is called: the title of the root record.
  package var name: FileName {
    state.withLock { $0.manifest[.root]?.title } ?? FileName("\(id.shortHex)") ?? .record
  }

  /// What this person may do with the member; nil for somebody who has no access, or whose access has ended or was given up.
  package var role: Role? {
    register.known.role(of: context.person, now: context.clock.milliseconds())
  }

  // MARK: What is known of records

  /// The entry of a record, deleted ones included; nil if there is none.
  package func entry(_ record: RecordID) -> RecordEntry? {
    state.withLock { $0.entry(record) }
  }

  /// Whether some record has several versions, of which none was made with knowledge of the others; `joinConcurrent` joins them.
  package var hasConcurrentVersions: Bool {
    state.withLock { $0.manifest.hasConflicts } || hasHiddenVersions
  }

  /// Whether `joinConcurrent` has something to do now, instead of with the next commit.
  package var isToBeJoined: Bool { hasConcurrentVersions || hasLateHeads || hasLinesToTell }

  /// The versions of a record that are to be joined; where there is nothing to join, its one version.
  func rivals(of record: RecordID) -> [RecordEntry] {
    state.withLock { $0.manifest.rivals(of: record) }
  }

  /// Whether the entry would change what is known of its record: none that is known says the same, or replaces it.
  ///
  /// - Parameter epoch: That of its revision; nil for the one in use.
  package func isNews(_ entry: RecordEntry, from epoch: StatementID? = nil) -> Bool {
    state.withLock { $0.manifest.isNews(entry, from: epoch) }
  }

  /// Whether another version that is known counts in the place of the entry's. Of two merges of the same versions, which know the
  /// same, that is so of one.
  package func hasReplaced(_ entry: RecordEntry) -> Bool {
    state.withLock { !$0.manifest.isNews(entry) && !$0.manifest.holds(entry) }
  }

  /// Whether one of these versions came with a late head and waits to be taken over.
  func hasLate(among rivals: [RecordEntry]) -> Bool {
    state.withLock { state in rivals.contains { state.manifest.isLate($0) } }
  }

  /// The records that stand in `parent` and are not deleted, in no particular order.
  package func children(of parent: RecordID) -> [RecordEntry] {
    state.withLock { $0.children(of: parent) }
  }

  /// Calls `body` with each record that `children` would return, without making a list of what may be a hundred thousand. The
  /// lock of `state` is held meanwhile, so `body` must not call the member.
  package func visitChildren(of parent: RecordID, _ body: (RecordEntry) -> Void) {
    state.withLock { $0.visitChildren(of: parent, body) }
  }

  /// How many records stand in `parent`.
  package func childCount(of parent: RecordID) -> Int {
    state.withLock { $0.childCount(of: parent) }
  }

  /// Every record, deleted ones included, in no particular order.
  package func allEntries() -> [RecordEntry] {
    state.withLock { $0.entries }
  }

  package var recordCount: Int {
    state.withLock { $0.manifest.liveCount }
  }

  /// Tells whoever follows the changes of others of records that this process has written: a commit made something else of
  /// them than what it was asked for, so that a mount has to show them anew.
  func note(changes records: Set<RecordID>) {
    if !records.isEmpty { state.withLock { $0.changes.note(records) } }
  }

  // MARK: Revisions

  /// A revision. The pages of its item tree are not loaded with it, but by whoever needs them, with `loadPage`.
  ///
  /// - Throws: `missing`, `damaged`.
  package func revision(_ name: ContentDigest) throws(VaultError) -> RecordRevision {
    if let cached = revisions.withLock({ $0[name] }) { return cached }
    let bytes = try objects.content(name, kind: .record)
    do {
      let revision = try RecordRevision(decoding: bytes)
      revisions.withLock { $0.insert(revision, named: name) }
      return revision
    } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }

  /// A page of an item tree.
  package func loadPage(_ name: ContentDigest) throws(VaultError) -> ItemPage {
    let bytes = try objects.content(name, kind: .page)
    do { return try ItemPage(decoding: bytes) } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }

  /// A list of chunks.
  func loadIndex(_ name: ContentDigest) throws(VaultError) -> ChunkIndex {
    let bytes = try objects.content(name, kind: .index)
    do { return try ChunkIndex(decoding: bytes) } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }

  /// Every item of a revision, `record.md` among them, tombstones left out.
  ///
  /// - Throws: `missing`, `damaged`, also of a page of the item tree.
  package func items(of revision: RecordRevision) throws(VaultError) -> [Item] {
    var load: (ContentDigest) throws(VaultError) -> ItemPage = loadPage
    if let root = revision.items.unloadedRoot { load = PagesAhead.read(below: root, in: self).page }
    let others = try pages(load) { load in
      var tree = revision.items
      return try tree.all(load: load)
    }
    return ((revision.document.map { [$0] } ?? []) + others).filter { !$0.isDeleted }
  }

  /// The items of a record and its extended attributes. Nothing is read where the entry says that there are none.
  ///
  /// - Throws: `missing`, `damaged`.
  package func contents(of entry: RecordEntry) throws(VaultError) -> ([Item], [Xattr]) {
    if entry.isBare { return ([], []) }
    let revision = try revision(entry.revision)
    return (try items(of: revision), revision.attributes.xattrs)
  }

  /// The names of the chunks that an item's content is made of, in order; nil stands for a chunk of zeros that is not stored.
  ///
  /// - Throws: `missing`, `damaged` of an index object.
  package func chunks(of content: Item.Content) throws(VaultError) -> [ContentDigest?] {
    switch content {
    case .inline, .symlink, .none: return []
    case .chunks(let names): return names
    case .indexes(let indexes):
      var names: [ContentDigest?] = []
      for index in indexes { names += try loadIndex(index).chunks }
      return names
    }
  }

  /// The item content that is made of these chunks. A few names stand in the item itself, more in index objects, which are
  /// staged for as long as this process lives or until a commit names them.
  ///
  /// - Parameter chunks: Each is staged or in its place already; nil stands for a chunk of zeros.
  /// - Throws: `noSpace`, `readOnly`, `io`.
  package func content(of chunks: [ContentDigest?]) throws(VaultError) -> Item.Content {
    if chunks.isEmpty { return .none }
    if chunks.count <= Limits.inlineChunks { return .chunks(chunks) }
    var indexes: [ContentDigest] = []
    for start in stride(from: 0, to: chunks.count, by: ChunkIndex.capacity) {
      let part = Array(chunks[start..<min(start + ChunkIndex.capacity, chunks.count)])
      indexes.append(try objects.put(.index, ChunkIndex(chunks: part).encoded()))
    }
    return .indexes(indexes)
  }

  /// The first bytes of an item's content, at most `byteCount`.
  ///
  /// - Throws: `missing`, `damaged`.
  package func beginning(of item: Item, byteCount: Int) throws(VaultError) -> [UInt8] {
    let wanted = Int(min(item.size, UInt64(byteCount)))
    let parts = try FileParts.load(of: item, in: self)
    var result: [UInt8] = []
    for number in 0..<parts.count where result.count < wanted {
      result += try parts.part(number).prefix(wanted - result.count)
    }
    return result
  }

  /// The revisions of a record, newest first, as far back as they are kept and can be read; of several versions that are not joined
  /// those of each.
  ///
  /// - Throws: `notFound` for an unknown record; what is wrong with its current revision.
  package func history(of record: RecordID) throws(VaultError) -> [NamedRevision] {
    let versions = rivals(of: record).map(\.revision)
    if versions.isEmpty { throw .notFound(what: "the record") }
    return try history(from: versions)
  }

  /// These revisions and those before them, newest first, as far back as they are kept and can be read.
  ///
  /// - Throws: What is wrong with the first of them.
  func history(from versions: [ContentDigest]) throws(VaultError) -> [NamedRevision] {
    var result: [NamedRevision] = []
    var seen: Set<ContentDigest> = []
    // Two entries may name one revision: where a device goes by another name now, an older one has the former.
    var waiting = versions.filter { seen.insert($0).inserted }
    while let digest = waiting.popLast() {
      let found: RecordRevision
      do { found = try revision(digest) } catch {
        // Older revisions are removed after their retention time; a damaged one keeps nobody from those after it.
        guard error.isDamage, digest != versions.first else { throw error }
        continue
      }
      result.append(NamedRevision(found, named: digest))
      for previous in found.previous
      where !seen.contains(previous) && historyGoesOn(from: digest, to: previous) {
        seen.insert(previous)
        waiting.append(previous)
      }
    }
    return result.sorted { ($0.revision.time, $0.digest) > ($1.revision.time, $1.digest) }
  }

  /// Whether a revision before this one is there and damaged, so that its history ends here.
  package func isDamaged(before revision: RecordRevision) -> Bool {
    damage(before: revision) != nil
  }

  /// What is wrong with a revision before this one that is there and damaged; nil where none is. Whoever looks for what was before
  /// may be looking for that one.
  package func damage(before revision: RecordRevision) -> VaultError? {
    for previous in revision.previous {
      do throws(VaultError) { _ = try self.revision(previous) } catch {
        // It is not kept any more.
        if case .missing = error { continue }
        if error.isDamage { return error }
      }
    }
    return nil
  }
}

extension Member {
  /// Whether the history of a record goes on from a revision to one that it has replaced. With new keys the older one may
  /// have been left out: the newer one was sealed anew and the older one was not. Then it is removed before long, and counts as
  /// gone already.
  ///
  /// - Parameter newer: A revision that is here.
  func historyGoesOn(from newer: ContentDigest, to older: ContentDigest) -> Bool {
    guard !register.keys.others.isEmpty else { return true }
    do {
      if objects.isStaged(older) { return true }
      if try objects.isPresentNow(older) { return true }
      return try !objects.isPresentNow(newer)
    } catch {
      // What keeps it from being told is told to whoever reads the revision.
      return true
    }
  }
}

/// The decoded revisions that were used last, so that a record which is written often is not read back each time.
struct RevisionCache {
  private struct Entry {
    let revision: RecordRevision
    let itemCount: Int
    var lastUse: UInt64
  }

  private let capacity: Int
  private let itemLimit: Int
  private var entries: [ContentDigest: Entry] = [:]
  private var itemCount = 0
  private var uses: UInt64 = 0

  /// - Parameters:
  ///   - capacity: The most revisions that are kept.
  ///   - itemLimit: The most items that are loaded in all of them, not counting those of the revision used last.
  init(capacity: Int, itemLimit: Int) {
    self.capacity = capacity
    self.itemLimit = itemLimit
  }

  subscript(name: ContentDigest) -> RecordRevision? {
    mutating get {
      guard let found = entries[name] else { return nil }
      uses += 1
      entries[name]?.lastUse = uses
      return found.revision
    }
  }

  mutating func insert(_ revision: RecordRevision, named name: ContentDigest) {
    remove(name)
    uses += 1
    let entry = Entry(revision: revision, itemCount: revision.items.loadedCount, lastUse: uses)
    entries[name] = entry
    itemCount += entry.itemCount
    guard entries.count > capacity || itemCount > itemLimit else { return }
    // Down to half of both, so that the work is rare.
    for (old, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) {
      if entries.count <= capacity / 2, itemCount <= itemLimit / 2 { break }
      if entry.lastUse < uses { remove(old) }
    }
  }

  mutating func removeAll() { self = RevisionCache(capacity: capacity, itemLimit: itemLimit) }

  mutating func remove(_ name: ContentDigest) {
    guard let entry = entries.removeValue(forKey: name) else { return }
    itemCount -= entry.itemCount
  }
}
