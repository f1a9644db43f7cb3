import BlobStore
import Synchronization
import VaultCrypto
import VaultModel

/// Puts what a member is made of once more, under the keys of another epoch: every object with all that it names.
/// Docs/Format.md, "Links and epochs".
///
/// The same objects come of it whoever does it, so several devices may, and what an interrupted one has written is
/// found and kept. Safe to use from several threads.
final class Translation: Sendable {
  let member: Member
  /// What is written is sealed with these.
  let target: EpochKeys
  /// Whether the revisions that others replaced are taken along, as far as they are here.
  let keepsHistory: Bool
  /// Whether what is not here keeps its name; else it is an error, since it may be on its way.
  let keepsMissing: Bool
  private let names = Mutex<[ObjectName: ObjectName]>([:])
  private let done = Mutex<UInt64>(0)

  init(member: Member, target: EpochKeys, keepsHistory: Bool, keepsMissing: Bool) {
    self.member = member
    self.target = target
    self.keepsHistory = keepsHistory
    self.keepsMissing = keepsMissing
  }

  /// How many objects were translated so far.
  var count: UInt64 { done.withLock { $0 } }

  private subscript(name: ObjectName) -> ObjectName? { names.withLock { $0[name] } }

  /// Says that an object has this name under the new keys, without reading it.
  func note(_ old: ObjectName, as new: ObjectName) { names.withLock { $0[old] = new } }

  // MARK: One object

  /// Puts a manifest's entry, with its revision, under the new keys.
  ///
  /// - Throws: `missing` for what is not here, if that does not keep its name; `away`; `noSpace`, `io`.
  func entry(_ entry: RecordEntry) throws(VaultError) -> RecordEntry {
    var entry = entry
    entry.revision = try revision(entry.revision)
    return entry
  }

  /// A revision, those that it replaced before it. Iterative: a record may have been edited any number of times.
  func revision(_ first: ObjectName) throws(VaultError) -> ObjectName {
    var waiting = [first]
    var opened: Set<ObjectName> = []
    while let name = waiting.last {
      if self[name] != nil {
        waiting.removeLast()
        continue
      }
      let isFirstLook = opened.insert(name).inserted
      guard
        let revision = try readable(
          name, isNeeded: name == first, { () throws(VaultError) in try member.revision(name) })
      else {
        waiting.removeLast()
        continue
      }
      let before = keepsHistory ? revision.previous.filter { self[$0] == nil } : []
      if isFirstLook, !before.isEmpty {
        waiting += before
        continue
      }
      note(name, as: try translate(revision))
      waiting.removeLast()
    }
    return self[first] ?? first
  }

  private func translate(_ old: RecordRevision) throws(VaultError) -> ObjectName {
    var revision = old
    // What is not kept any more is not named any more either.
    revision.previous = keepsHistory ? old.previous.compactMap { self[$0] }.sorted() : []
    if let document = old.document { revision.document = try item(document) }
    if let root = old.items.rootPage {
      revision.items = .stored(root: try page(root, depth: 0))
    } else {
      var items: [Item] = []
      for each in old.items.loadedItems { items.append(try item(each)) }
      revision.items = ItemTree(items: items)
    }
    let bytes = try pages(member.loadPage) { _ in
      try revision.encode(storingPages: { page in try self.write(.page, page) })
    }
    return try write(.record, bytes)
  }

  private func page(_ name: ObjectName, depth: Int) throws(VaultError) -> ObjectName {
    if let new = self[name] { return new }
    // What is deeper cannot be read, so it need not be readable.
    guard depth <= Limits.treeDepth,
      let page = try readable(
        name, isNeeded: true, { () throws(VaultError) in try member.loadPage(name) })
    else { return name }
    var new = page
    switch page {
    case .leaf(let items):
      var translated: [Item] = []
      for each in items { translated.append(try item(each)) }
      new = .leaf(translated)
    case .branch(let children):
      var translated: [ObjectName?] = []
      for child in children {
        translated.append(
          try child.map { (child) throws(VaultError) in try self.page(child, depth: depth + 1) })
      }
      new = .branch(translated)
    }
    return try put(name, .page, new.encoded())
  }

  private func item(_ old: Item) throws(VaultError) -> Item {
    var item = old
    item.content = try content(old.content)
    return item
  }

  /// An item's content under the new keys, and all that it names.
  func content(_ content: Item.Content) throws(VaultError) -> Item.Content {
    switch content {
    case .none, .inline, .symlink: return content
    case .chunks(let names): return .chunks(try chunks(names))
    case .indexes(let names):
      var indexes: [ObjectName] = []
      for name in names { indexes.append(try index(name)) }
      return .indexes(indexes)
    }
  }

  private func index(_ name: ObjectName) throws(VaultError) -> ObjectName {
    if let new = self[name] { return new }
    let found = try readable(
      name, isNeeded: true, { () throws(VaultError) in try member.index(name) })
    guard var index = found else { return name }
    index.chunks = try chunks(index.chunks)
    return try put(name, .index, index.encoded())
  }

  private func chunks(_ names: [ObjectName?]) throws(VaultError) -> [ObjectName?] {
    var new: [ObjectName?] = []
    for name in names {
      new.append(try name.map { (name) throws(VaultError) in try chunk(name) })
    }
    return new
  }

  func chunk(_ name: ObjectName) throws(VaultError) -> ObjectName {
    if let new = self[name] { return new }
    let found = try readable(
      name, isNeeded: true,
      { () throws(VaultError) in try member.objects.content(name, kind: .chunk) })
    guard let found else { return name }
    return try put(name, .chunk, found)
  }

  /// What `read` gives; nil for what is damaged, or not here: that keeps its name, and can be read no less than
  /// before.
  private func readable<Value>(
    _ name: ObjectName, isNeeded: Bool, _ read: () throws(VaultError) -> Value
  ) throws(VaultError) -> Value? {
    do throws(VaultError) { return try read() } catch {
      switch error {
      case .damaged:
        note(name, as: name)
        return nil
      case .missing where !isNeeded: return nil
      case .missing where keepsMissing:
        note(name, as: name)
        return nil
      default: throw error
      }
    }
  }

  private func put(
    _ old: ObjectName, _ kind: ObjectKind, _ content: [UInt8]
  ) throws(VaultError) -> ObjectName {
    let new = try write(kind, content)
    note(old, as: new)
    return new
  }

  private func write(_ kind: ObjectKind, _ content: [UInt8]) throws(VaultError) -> ObjectName {
    done.withLock { $0 += 1 }
    return try member.objects.write(kind, content, under: target)
  }

  // MARK: Everything

  /// Translates these entries on several threads: first the chunks, which are most of the bytes, then the rest.
  ///
  /// - Parameter progress: Told how many objects of how many are done, from several threads.
  /// - Throws: The first error; then nothing further is begun.
  func run(
    _ entries: [RecordEntry],
    progress: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(VaultError) {
    let wanted = Set(entries.map(\.record))
    var chunks: Set<ObjectName> = []
    var others: Set<ObjectName> = []
    MemberWalk(member: member).walkAll(
      where: { wanted.contains($0.record) }, keeps: { _, _ in keepsHistory },
      visit: { reference in
        guard self[reference.name] == nil else { return }
        if reference.kind == .chunk {
          chunks.insert(reference.name)
        } else {
          others.insert(reference.name)
        }
      }, fail: { _, _ in }, progress: { _ in })
    let total = UInt64(chunks.count + others.count)
    let start = count
    _ = try inParallel(chunks.sorted()) { (name) throws(VaultError) in
      _ = try self.chunk(name)
      progress(min(total, self.count - start), total)
    }
    _ = try inParallel(entries) { (entry) throws(VaultError) in
      _ = try self.revision(entry.revision)
      progress(min(total, self.count - start), total)
    }
  }
}

extension Member {
  /// A list of chunks.
  fileprivate func index(_ name: ObjectName) throws(VaultError) -> ChunkIndex {
    let bytes = try objects.content(name, kind: .index)
    do { return try ChunkIndex(decoding: bytes) } catch {
      throw VaultError(error, path: objects.path(of: name).string)
    }
  }
}

extension ObjectStore {
  /// Puts the content in its place under these keys, whichever are current; no commit names it yet.
  ///
  /// What is there already and whole is not written again. On disk after the next barrier.
  ///
  /// - Throws: `noSpace`, `readOnly`, `io`.
  func write(
    _ kind: ObjectKind, _ content: [UInt8], under keys: EpochKeys
  ) throws(VaultError) -> ObjectName {
    try content.withBytes { (bytes) throws(VaultError) in
      try write(HashedContent(kind, bytes), under: keys)
    }
  }

  private func write(
    _ content: HashedContent, under keys: EpochKeys
  ) throws(VaultError) -> ObjectName {
    guard let staging else { throw .readOnly }
    let name = keys.name(of: content.digest)
    let final = path(of: name)
    let size = try storing { () throws(BlobStoreError) in try store.size(of: final) }
    if size != nil, try opens(name, content.kind, keys) { return name }
    let byteCount = ObjectLayout(of: content.kind).fileSize(contentSize: content.bytes.count)
    let isPooled = byteCount <= buffers.byteCount
    let buffer = isPooled ? buffers.take() : .allocate(byteCount: byteCount, alignment: 4096)
    defer { if isPooled { buffers.put(buffer) } else { buffer.deallocate() } }
    let sealed = UnsafeMutableRawBufferPointer(rebasing: buffer[0..<byteCount])
    keys.seal(content, as: name, into: sealed)
    let arriving = staging.path.appending("\(name.hex).\(UInt64.random(in: 0 ... .max))")
    try storing { () throws(BlobStoreError) in
      try store.create(arriving, UnsafeRawBufferPointer(sealed))
      try store.rename(arriving, to: final)
    }
    if size != nil { forgetReader(name) }
    return name
  }

  private func opens(
    _ name: ObjectName, _ kind: ObjectKind, _ keys: EpochKeys
  ) throws(VaultError) -> Bool {
    let path = path(of: name)
    let file: [UInt8]
    do throws(BlobStoreError) {
      file = try store.read(path, limit: Self.fileSizeLimit(of: kind))
    } catch {
      switch error {
      case .notFound, .tooLarge: return false
      default: throw VaultError(error)
      }
    }
    do throws(CryptoError) {
      _ = try keys.open(name: name, kind: kind, file: file)
      return true
    } catch {
      return false
    }
  }
}
