import Log
import Vault
import VaultErrors
import VaultModel

/// The files of a record as somebody else has left them.
struct RecordNews {
  let record: RecordID
  let revision: ContentDigest
  let items: [Item]
  /// Nil of a record that is removed.
  let xattrs: [Xattr]?
}

/// What follows when news are shown.
struct ShownChanges {
  /// What a cache above has to drop.
  var invalidations: [Invalidation] = []
  /// What files in use are to take over.
  var contents: [NewContent] = []
  /// Files that have lost a name, and may be let go of.
  fileprivate var detached: [TreeReference<FileNode>] = []
  /// Records in which other names are taken by files than were.
  fileprivate var renamed: Set<RecordID> = []
  /// Records that were read, as far as they are shown.
  var read: Set<RecordID> = []

  fileprivate mutating func noteNames(in directory: DirectoryNode) {
    renamed.insert(directory.record)
  }
}

/// What others have made of files. One file may have names in several records, so all of them are read before anything
/// is shown.
extension FileTree {
  /// Reads those of the records of which files are shown. No lock may be held.
  func news(of records: Set<RecordID>, in shown: ShownMember) -> [RecordNews] {
    let member = shown.member
    let visible = withTree { tree in
      records.filter { tree.showsFiles(of: $0, in: tree[shown.view]) }
    }
    return visible.compactMap { record in
      guard let entry = member.entry(record) else { return nil }
      if entry.isDeleted {
        return RecordNews(record: record, revision: entry.revision, items: [], xattrs: nil)
      }
      do throws(VaultError) {
        let (items, xattrs) = try member.contents(of: entry)
        return RecordNews(record: record, revision: entry.revision, items: items, xattrs: xattrs)
      } catch {
        // Nobody has asked: it goes into the logs, and is tried again.
        _ = shown.objects.failure(error, reading: entry.revision)
        log.failed(.reading, error, of: LogIdentity(member.id))
        withTree { _ = $0[shown.view].unread.insert(record) }
        return nil
      }
    }
  }
}

extension TreeState {
  /// Shows what was read.
  ///
  /// - Returns: Records to be read again: those that have changed meanwhile, or that may have names of a file as is
  ///   known only now.
  mutating func show(
    _ news: [RecordNews], in view: MemberView, _ changes: inout ShownChanges
  ) -> Set<RecordID> {
    var again: Set<RecordID> = []
    var current: [(news: RecordNews, directory: DirectoryNode)] = []
    let evicted = evictedFiles(Set(news.map(\.record)), of: view)
    for news in news {
      guard view.member.entry(news.record)?.revision == news.revision else {
        again.insert(news.record)
        continue
      }
      guard let directory = view.directories[news.record] else { continue }
      if let evicted = evicted[news.record] { recall(evicted, in: directory, &changes) }
      // One that was moved here meanwhile is there again with the next commit, and is read after that.
      guard directory.files != nil, news.xattrs != nil || directory.isRemoved else { continue }
      if let xattrs = news.xattrs, !view.areAttributesPending(of: news.record) {
        directory.xattrs = xattrs
      }
      current.append((news, directory))
    }
    for (news, directory) in current { again.formUnion(learn(news.items, in: directory)) }
    again.subtract(current.map(\.news.record))
    // A file that has moved is taken away where it was before it is put where it is.
    for (news, directory) in current { takeAway(beside: news.items, from: directory, &changes) }
    var shared: [Inode: [SharedName]] = [:]
    for (news, directory) in current { put(news.items, in: directory, &shared, &changes) }
    for names in shared.values { again.formUnion(update(names, &changes)) }
    for (_, directory) in current { nameAnew(directory, &changes) }
    for file in changes.detached { collapse(self[file]) }
    changes.detached = []
    for (_, directory) in current where directory.isRemoved { collapse(directory) }
    return again
  }

  /// Takes up a directory that was forgotten here, but not by the kernel.
  private mutating func recall(
    _ files: [FileName: FileNode], in directory: DirectoryNode, _ changes: inout ShownChanges
  ) {
    directory.wasEvicted = false
    changes.noteNames(in: directory)
    guard directory.files != nil else { return recall(files, in: directory) }
    // Somebody has read it again since. The kernel forgets what it may know of it beside what is there now: files that
    // are gone, and names that were not there.
    for (name, file) in files {
      if case .node(let present)? = directory.files?[name], present === file { continue }
      detach(.node(file), name, from: directory, &changes)
      changes.invalidations.append(.entry(parent: directory.inode, name: name))
    }
    for name in (directory.files ?? [:]).keys where files[name] == nil {
      changes.invalidations.append(.entry(parent: directory.inode, name: name))
    }
  }

  /// Lets the files here know where they may have other names.
  ///
  /// - Returns: The records of which that was not known.
  private func learn(_ items: [Item], in directory: DirectoryNode) -> Set<RecordID> {
    var news: Set<RecordID> = []
    for item in items where !item.linkRecords.isEmpty {
      let link = Link(record: directory.record, name: item.name)
      let files = directory.view.files
      let file = forms(of: item, in: directory).lazy.compactMap { files[$0.file] }
        .first { $0.links.contains(link) }
      news.formUnion(file?.learn(item.linkRecords) ?? [])
    }
    return news
  }

  /// Takes away what does not stand under its name any more.
  private mutating func takeAway(
    beside items: [Item], from directory: DirectoryNode, _ changes: inout ShownChanges
  ) {
    let view = directory.view
    let there = Dictionary(items.map { ($0.name, $0) }) { first, _ in first }
    for (name, old) in directory.files ?? [:] where !isStill(old, there[name], in: directory) {
      if view.isItemPending(name, of: directory.record) { continue }
      if case .node(let file) = old, view.hasOwnChanges(file) {
        // Another device removed the file that is being written here, or put another one in its place: ours stays, and
        // the commit keeps theirs as a conflict.
        view.willChange(item: name, of: directory.record, exists: there[name] != nil)
        continue
      }
      changes.noteNames(in: directory)
      setSlot(nil, name, in: directory)
      detach(old, name, from: directory, &changes)
      changes.invalidations.append(.entry(parent: directory.inode, name: name))
    }
  }

  /// Whether what shows is the file of an item, or what was parted from it.
  private func isStill(_ old: FileSlot, _ item: Item?, in directory: DirectoryNode) -> Bool {
    guard let item else { return false }
    return old.file == item.file
      || forms(of: item, in: directory).contains { $0.file == old.file }
  }

  /// The file that is here of which an item is a name, and the item as it is one. What was changed here stays what it is.
  private func file(
    of item: Item, insteadOf old: FileSlot?, in directory: DirectoryNode
  ) -> (FileNode, Item)? {
    let view = directory.view
    if let file = view.files[item.file], file === old?.node || old?.node == nil,
      file.isLinked(to: item, in: directory.record)
    {
      return (file, item)
    }
    let forms = forms(of: item, in: directory)
    if let file = old?.node, file.hasOwnState || view.hasOwnChanges(file),
      let form = forms.first(where: { $0.file == file.file })
    {
      return (file, form)
    }
    for form in forms {
      guard let file = view.files[form.file] else {
        // What was a file by itself, and knows of other names by now, is one with these.
        if form.file == item.file { continue }
        return nil
      }
      // What is one of several names goes alone to no file that others have taken all names from.
      if let shown = old?.node, shown.links.count > 1, file.links.isEmpty { continue }
      if file.isLinked(to: form, in: directory.record) { return (file, form) }
    }
    return nil
  }

  private mutating func replace(
    _ old: FileSlot?, by slot: FileSlot, _ name: FileName, in directory: DirectoryNode,
    _ changes: inout ShownChanges
  ) {
    if let old, let file = old.node, file !== slot.node {
      detach(old, name, from: directory, &changes)
      changes.invalidations.append(.entry(parent: directory.inode, name: name))
    }
    setSlot(slot, name, in: directory)
  }

  /// Puts items in their places, as far as nothing else stands there.
  private mutating func put(
    _ items: [Item], in directory: DirectoryNode, _ shared: inout [Inode: [SharedName]],
    _ changes: inout ShownChanges
  ) {
    let view = directory.view
    for item in items {
      if view.isItemPending(item.name, of: directory.record) {
        // A file that goes again before any commit has it leaves the name to this one: the next look sees.
        if view.pending[directory.record]?.items[item.name] == false {
          view.unread.insert(directory.record)
        }
        continue
      }
      let old = directory.files?[item.name]
      if case .stored(let old)? = old, old == item { continue }
      if let old, !isStill(old, item, in: directory) { continue }
      if old == nil {
        changes.noteNames(in: directory)
        changes.invalidations.append(.entry(parent: directory.inode, name: item.name))
      }
      guard let (file, item) = file(of: item, insteadOf: old, in: directory) else {
        let slot = slot(for: item, in: directory, &changes.invalidations)
        replace(old, by: slot, item.name, in: directory, &changes)
        continue
      }
      let name = SharedName(directory: directory, item: item)
      let isNew = !file.links.contains(name.link)
      let isChanged =
        file.hasOwnState || view.hasOwnChanges(file) || isNew && isPending(file)
      file.add(name.link, knowing: item.linkRecords)
      replace(old, by: .node(file), item.name, in: directory, &changes)
      if isChanged {
        // What was changed here of it or of its names is written under all of them, those included that it has only now.
        view.willChange(item: item.name, of: directory.record, exists: true)
      }
      shared[file.inode, default: []].append(name)
    }
  }

  /// Records give way to files of their names, and take them again when the files are gone.
  private func nameAnew(_ directory: DirectoryNode, _ changes: inout ShownChanges) {
    guard changes.renamed.remove(directory.record) != nil else { return }
    renewRecords(in: directory, &changes.invalidations)
  }

  private func detach(
    _ slot: FileSlot, _ name: FileName, from directory: DirectoryNode,
    _ changes: inout ShownChanges
  ) {
    guard case .node(let file) = slot else { return }
    let link = Link(record: directory.record, name: name)
    file.links.removeAll { $0 == link }
    if file.links.isEmpty { file.view.noteTaken(link, from: file) }
    file.changed = .now
    changes.detached.append(TreeReference(file))
  }
}

// MARK: Files that are changed after others have taken their last name away

extension TreeState {
  /// Gives a file that is changed the name back that others have taken away: ours stays, as where it was changed before
  /// they did, and the commit keeps theirs as a conflict. Attributes alone put nothing in the place of another file. Does nothing
  /// for a file that was removed here.
  ///
  /// - Returns: What a cache above has to drop.
  /// - Throws: `stale` where that record is removed, something else was made of the name here since, or others have put another
  ///   file there and nothing was written.
  mutating func putBack(_ file: FileNode) throws(TreeObstacle) -> [Invalidation] {
    let view = file.view
    guard file.links.isEmpty, file.takenName != nil else { return [] }
    guard let link = view.takenName(of: file),
      let directory = directory(link.record, of: view), !directory.isRemoved
    else { throw .failed(.stale) }
    try require(directory, beside: [])
    let theirs = directory.files?[link.name]
    if theirs != nil, file.draftChanges == nil { throw .failed(.stale) }
    // What another program is writing there is not sealed yet.
    if let other = theirs?.node, view.hasOwnChanges(other) { throw .failed(.stale) }
    var changes = ShownChanges()
    changes.noteNames(in: directory)
    if let theirs { detach(theirs, link.name, from: directory, &changes) }
    setSlot(.node(file), link.name, in: directory)
    file.links.append(link)
    view.willChange(item: link.name, of: link.record, exists: theirs != nil)
    view.forgetTakenName(of: file)
    nameAnew(directory, &changes)
    for detached in changes.detached { collapse(self[detached]) }
    changes.invalidations.append(.entry(parent: directory.inode, name: link.name))
    return changes.invalidations
  }

  /// Gives a file whose last handle goes, and that cannot have its name back, another one in the same record: nobody was told of
  /// what came last, such as pages of a mapping. Where others have removed the record the commit keeps it as a conflict.
  ///
  /// - Returns: What a cache above has to drop.
  /// - Throws: `stale` where somebody was told, or nothing is left of the record.
  mutating func giveAnotherName(to file: FileNode) throws(TreeObstacle) -> [Invalidation] {
    guard file.links.isEmpty, !file.isToldUnsealed, let taken = file.takenName,
      let directory = directory(taken.record, of: file.view)
    else { throw .failed(.stale) }
    try require(directory, beside: [])
    let records = records(in: directory)
    let isFree = { (name: FileName) in records[name] == nil && directory.files?[name] == nil }
    let name =
      isFree(taken.name)
      ? taken.name : VisibleNames.candidates(taken.name, file.file).first(where: isFree)
    guard let name else { preconditionFailure("the candidates have no end") }
    file.view.willChange(item: name, of: taken.record, exists: false)
    setSlot(.node(file), name, in: directory)
    file.links.append(Link(record: taken.record, name: name))
    file.view.forgetTakenName(of: file)
    return [.entry(parent: directory.inode, name: name)]
  }
}

// MARK: Names that show one file

/// A name of a file that is here, and what stands under it now.
private struct SharedName {
  let directory: DirectoryNode
  let item: Item

  var link: Link { Link(record: directory.record, name: item.name) }
}

extension TreeState {
  /// Updates a file by what stands under names of it. What shows something else than the newest of all its names is a
  /// file by itself from now on.
  ///
  /// - Returns: Records to be read first, if what stands under all its names has to be known.
  private mutating func update(_ names: [SharedName], _ changes: inout ShownChanges) -> Set<
    RecordID
  > {
    guard let first = names.first,
      let newest = names.map(\.item).max(by: { $0.isStaler(than: $1) }),
      case .node(let file)? = first.directory.files?[first.item.name],
      !file.hasOwnState, !file.view.hasOwnChanges(file)
    else { return [] }
    let links = names.map(\.link)
    let others = file.links.filter { link in
      !links.contains(link) && !changes.read.contains(link.record)
        && !file.view.isItemPending(link.name, of: link.record)
    }
    if !others.isEmpty, !newest.hasState(of: file.item(named: newest.name)) {
      return Set(file.links.map(\.record))
    }
    update(file, newest, &changes)
    for name in names {
      let knowsAnother = file.links.contains {
        $0 != name.link && name.item.linkRecords.contains($0.record)
      }
      if knowsAnother && name.item.hasState(of: newest) { continue }
      part(name.item, name.link, from: file, &changes)
    }
    return []
  }

  private mutating func part(
    _ item: Item, _ link: Link, from file: FileNode, _ changes: inout ShownChanges
  ) {
    guard file.links.count > 1, let directory = file.view.directories[link.record] else { return }
    file.links.removeAll { $0 == link }
    let slot = slot(
      showing: parted(item, in: directory), in: directory, &changes.invalidations)
    setSlot(slot, link.name, in: directory)
    changes.invalidations.append(.entry(parent: directory.inode, name: link.name))
  }

  private func update(_ file: FileNode, _ item: Item, _ changes: inout ShownChanges) {
    let isNewContent = item.content != file.content || item.size != file.contentSize
    if isNewContent, let draft = file.draft {
      // Somebody may be writing it: then ours goes on from what was there before, and the commit keeps theirs.
      changes.contents.append(
        NewContent(
          file: TreeReference(file), draft: draft, item: item, before: file.committed.changed))
      return
    }
    let before = file.item(named: item.name)
    file.adopt(item)
    if isNewContent {
      file.adoptContent(of: item)
      changes.invalidations.append(.content(file.inode))
    } else if before != item {
      changes.invalidations.append(.attributes(file.inode))
    }
  }
}
