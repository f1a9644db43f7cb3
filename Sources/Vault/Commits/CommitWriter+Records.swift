import Notes
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// How edits become revisions of records.
extension CommitWriter {
  /// Applies edits to the newest revisions; what cannot be applied is noted in `failures` and `heldBack`.
  ///
  /// - Parameter unseen: Records that others have changed since the authors of the edits looked.
  mutating func add(
    _ edits: [RecordEdit], unseen: Set<RecordID> = []
  ) throws(VaultError) {
    var names = names(in: edits)
    names.unseen = unseen
    for edit in edits {
      let position = objects.publishedCount
      let before = (lost, metFiles)
      do {
        try add(edit, names: names)
      } catch {
        switch error {
        case .damaged, .missing, .notFound, .limit, .changedMeanwhile:
          failures[edit.record] = error
        default: throw error
        }
        // What is not done overrules nobody.
        (lost, metFiles) = before
        objects.restage(from: position)
      }
    }
    noteUnchanged(in: edits)
    try settleFiles()
  }

  mutating func add(_ edit: RecordEdit, names: Names = Names()) throws(VaultError) {
    let entry = entry(edit.record)
    if let wanted = edit.base, entry?.revision != wanted {
      throw .changedMeanwhile(record: edit.record)
    }
    var base: NamedRevision?
    if let entry { base = try self.revision(entry.revision, of: edit.record) }
    let edit = try published(edit)
    if let base { try keepUnseen(by: edit, in: base, names) }
    try noteOtherNames(of: edit, base: base?.revision, names)
    let terms = RecordEdit.Terms(
      time: time(of: edit, over: base?.revision, names), device: context.device.id,
      counter: counter, keepsTombstones: context.keepsTombstones, names: names.records)
    let applied = try edit.applied(to: base, under: terms, load: member.loadPage)
    if var revision = applied ?? base?.revision { try noteItems(of: edit, in: &revision) }
    guard var revision = applied else { return }
    if let base, let copy = try whatVanishes(by: edit, in: revision, over: base) {
      lost.append(copy)
    }
    beginAnew(&revision, over: base?.revision)
    try write(&revision, base: base?.revision, entry: entry)
    // It holds what its deletion left, whatever a mounted view still shows in it that had moved it.
    if edit.isOfView, let base, base.revision.place.isDeleted, !revision.place.isDeleted {
      joined.insert(edit.record)
    }
  }

  /// Begins the version of a revision anew, over the one that it goes on from, where it would name very many devices, or where that
  /// one says more of this device than it has written: what goes on from that by its counter would know less. Devices of which
  /// heads are here stay in it: older versions of theirs are known by that.
  ///
  /// - Parameter base: The revision that it goes on from.
  func beginAnew(_ revision: inout RecordRevision, over base: RecordRevision?) {
    let own = context.device.id
    // Of what this commit has written before, its counter is right.
    let reached = written[revision.record] == nil ? counter - 1 : counter
    let isAhead = base.map { $0.version[own] > reached } ?? false
    guard revision.version.isCrowded || isAhead, revision.previous.count == 1,
      let base = revision.previous.first
    else { return }
    revision.version = revision.version.begunAnew(over: base, by: own) {
      heads.loaded[$0] != nil
    }
  }

  /// What an edit has vanish, and its author has not seen, whole, as where two devices meet later: what they save into a record
  /// that others, or they themselves, have deleted; what others have put into one that was empty when it was deleted; what they
  /// have deleted in one that is moved; and the name that they have given it. Nil also for what cannot be read, of which nothing
  /// can be kept.
  ///
  /// - Parameter revision: What the edit makes of `base`, not stored yet.
  private func whatVanishes(
    by edit: RecordEdit, in revision: RecordRevision, over base: NamedRevision
  ) throws(VaultError) -> ConflictCopy? {
    do {
      switch (base.revision.place.isDeleted, revision.place.isDeleted) {
      case (true, true) where edit.place == nil || edit.isOfView:
        return try saved(by: edit, in: revision, over: base)
      case (false, true) where edit.isOfView:
        // What came into the folder when it was gone already, such as pages of a mapping.
        if let copy = try saved(by: edit, in: revision, over: base) { return copy }
        let join = RevisionJoin(member: member)
        if try !member.items(of: revision).isEmpty { return try join.whole(base) }
        return try unseenPlace(by: edit, in: base) == nil ? nil : join.whole(base)
      case (false, false): return try unseenPlace(by: edit, in: base)
      case (true, false) where edit.isOfView: return try deleted(before: edit, in: revision)
      default: return nil
      }
    } catch {
      switch error {
      case .missing, .damaged, .notFound: return nil
      default: throw error
      }
    }
  }

  /// A note of the name that another device has given the record since the author of the edit looked, as a join leaves one; nil
  /// where there is no such name, or a copy of what lost has it.
  private func unseenPlace(
    by edit: RecordEdit, in base: NamedRevision
  ) throws(VaultError) -> ConflictCopy? {
    let old = base.revision.place
    guard let place = edit.place, place != old, let entry = entry(edit.record) else { return nil }
    let seen = edit.isNew ? nil : edit.seenPlace ?? old
    // Of records that stand in one another one shows in the member itself.
    let shown = RecordPlace(parent: entry.parent, title: entry.title, isDeleted: entry.isDeleted)
    if seen == old || seen == shown { return nil }
    let join = RevisionJoin(member: member)
    if join.isAsKept(.place(old), in: base.revision) { return nil }
    let origin = try ifWhole(join.origin(of: .place(old), in: base)) ?? base.revision
    let time = base.revision.placeTime
    // Of two programs on one machine the later one wins, as on any disk.
    if heads.wasWritten(origin, by: context.device.id), origin.time == time { return nil }
    let mark = ConflictMark(record: edit.record, device: origin.device, time: time)
    if lost.contains(where: { $0.mark == mark }) { return nil }
    var copy = ConflictCopy(mark: mark, title: old.title, items: [])
    copy.addNoteOfPlace()
    return copy
  }

  private func saved(
    by edit: RecordEdit, in revision: RecordRevision, over base: NamedRevision
  ) throws(VaultError) -> ConflictCopy? {
    let (before, now) = (try member.items(of: base.revision), try member.items(of: revision))
    let saved = now.filter { edit.items[$0.name] != nil && !$0.stands(among: before) }
    if saved.isEmpty { return nil }
    return ConflictCopy(
      mark: ConflictMark(record: edit.record, device: revision.device, time: revision.time),
      title: revision.place.title, items: now)
  }

  /// The record as it was before others have deleted it, if something of that is not in it any more.
  private func deleted(
    before edit: RecordEdit, in revision: RecordRevision
  ) throws(VaultError) -> ConflictCopy? {
    let before = try RecordRestore(member).revisionBeforeDeletion(of: edit.record)
    let now = try member.items(of: revision)
    let gone = try member.items(of: before.revision).filter {
      edit.items[$0.name] == nil && !$0.stands(among: now)
    }
    if gone.isEmpty { return nil }
    return try RevisionJoin(member: member).whole(before)
  }

  /// Brings the contents of an edit to their places, under the current keys. An item of which something is not to be had
  /// is held back, and the rest of the edit goes on without it: one lost file is not to be the loss of others.
  private mutating func published(_ edit: RecordEdit) throws(VaultError) -> RecordEdit {
    var result = edit
    // In the order in which most programs read them: the disk lays them out as they come.
    for (name, item) in edit.items.sorted(by: { $0.key < $1.key }) {
      guard let item else { continue }
      let position = objects.publishedCount
      do {
        try publish(item.content)
      } catch {
        switch error {
        case .damaged, .missing, .away, .gone:
          heldBack[edit.record, default: [:]][name] = error
        default: throw error
        }
        objects.restage(from: position)
        result.items.removeValue(forKey: name)
      }
    }
    return result
  }

  /// Stores a revision, which becomes the record's newest.
  ///
  /// - Parameters:
  ///   - base: An older revision, and what the manifest says of it: they spare reading a note that did not change.
  @discardableResult
  mutating func write(
    _ revision: inout RecordRevision, base: RecordRevision?, entry: RecordEntry?
  ) throws(VaultError) -> ContentDigest {
    let name = try store(&revision)
    let summary = try summary(of: revision, base: base, entry: entry)
    written[revision.record] = RecordEntry(revision, named: name, summary: summary)
    return name
  }

  /// Moves the objects of a content to their places, chunks before the index that names them.
  private func publish(_ content: Item.Content) throws(VaultError) {
    switch content {
    case .inline, .symlink, .none: return
    case .chunks(let names):
      for name in names { if let name { try objects.publish(name) } }
    case .indexes(let indexes):
      for index in indexes {
        // An index that is in its place was put there after its chunks.
        if objects.isStaged(index) {
          try publish(.chunks(try member.chunks(of: .indexes([index]))))
        }
        try objects.publish(index)
      }
    }
  }

  /// Writes the revision and the new pages of its item tree, signed by this device unless it is a join.
  ///
  /// - Throws: `limit` for one that nobody could read, nor a list that names it.
  func store(_ revision: inout RecordRevision) throws(VaultError) -> ContentDigest {
    guard revision.version.isReadable else {
      throw .limit(
        what: "the number of devices that have changed a record",
        found: revision.version.entries.count, limit: Limits.versionDevices)
    }
    let isJoin = revision.previous.count > 1 && !revision.isStandIn
    let signer = try isJoin ? nil : context.ownCertificate().id
    if !isJoin, !revision.place.isDeleted { revision.removePadding() }
    let bytes: [UInt8]
    do {
      let store = { (page: [UInt8]) in try putAndPublish(.page, page) }
      if let signer {
        bytes = try revision.encodeSigned(by: signer, sign: sign, storingPages: store)
      } else {
        revision.signature = nil
        bytes = try revision.encode(storingPages: store)
      }
    } catch let error as VaultError {
      throw error
    } catch {
      preconditionFailure("encoding a record threw \(error)")
    }
    guard bytes.count <= ObjectLayout.maximumContentSize(of: .record) else {
      throw .limit(
        what: "the size of a record", found: bytes.count,
        limit: ObjectLayout.maximumContentSize(of: .record))
    }
    let name = try putAndPublish(.record, bytes)
    member.revisions.withLock { cache in
      // Nobody writes on top of those any more.
      for previous in revision.previous { cache.remove(previous) }
      cache.insert(revision, named: name)
    }
    return name
  }

  /// This device's signature of a revision of the member.
  private func sign(_ unsigned: [UInt8]) -> [UInt8] {
    context.device.signingKey.sign(
      context.binding.vault.signedMessage(ofRevision: unsigned, in: member.id))
  }

  /// Seals something and brings it to its place at once.
  @discardableResult
  func putAndPublish(
    _ kind: ObjectKind, _ bytes: [UInt8]
  ) throws(VaultError) -> ContentDigest {
    let use = try objects.stage(kind, bytes)
    try objects.publish(use.digest)
    return use.digest
  }

  /// What the manifest says of the record's note; read again only when the note changed.
  private func summary(
    of revision: RecordRevision, base: RecordRevision?, entry: RecordEntry?
  ) throws(VaultError) -> FrontMatterSummary {
    guard let document = revision.document, !document.isDeleted else { return FrontMatterSummary() }
    if let entry, base?.document?.content == document.content {
      return FrontMatterSummary(
        type: entry.type, date: entry.date, isUnreadable: entry.hasUnreadableFrontMatter)
    }
    switch try member.beginningHere(of: document, byteCount: RecordDocument.frontMatterLimit) {
    case .here(let text): return FrontMatter.summary(of: text)
    // Only lists lack something by that: it keeps nothing from being saved, or from being kept.
    case .lacking: return try knownSummary(of: document, in: revision) ?? .empty
    }
  }

  /// What one of the record's versions, or of that of which it is a conflict's copy, says of a note with this content.
  private func knownSummary(
    of document: Item, in revision: RecordRevision
  ) throws(VaultError) -> FrontMatterSummary? {
    var entries = member.rivals(of: revision.record)
    if let mark = ConflictMark(revision.attributes.xattrs) {
      entries += member.rivals(of: mark.record)
    }
    for entry in entries {
      let version = try ifWhole(member.revision(entry.revision))
      guard version?.document?.content == document.content else { continue }
      return FrontMatterSummary(
        type: entry.type, date: entry.date, isUnreadable: entry.hasUnreadableFrontMatter)
    }
    return nil
  }
}

extension Item {
  /// Whether one of these has this name and content.
  fileprivate func stands(among items: [Item]) -> Bool {
    items.contains { $0.name == name && $0.hasContent(of: self) }
  }
}
