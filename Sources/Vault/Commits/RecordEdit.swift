import VaultErrors
import VaultModel

/// A change of one record, said as what changes, so that it can be applied to a newer revision than
/// its author knew.
package struct RecordEdit: Sendable {
  package let record: RecordID
  /// True for a record that no commit has named yet; then `place` and `attributes` are needed.
  package var isNew: Bool
  /// Where the record now is and what it is called; nil when that stays.
  package var place: RecordPlace?
  /// Where the record was and what it was called as the author of the edit saw it, where `place` is there: where another device
  /// has put it since, and what it has called it, is kept as a conflict. Nil where that is replaced without a look.
  package var seenPlace: RecordPlace?
  /// Mode, owner, times and extended attributes; nil when they stay.
  package var attributes: RecordAttributes?
  /// When names in it changed, where its other attributes stay. Another device that changes the attributes after that, and
  /// does not know it, is not overruled by it.
  package var modified: Touch?
  /// The items that change, `record.md` among them; a nil value removes the item.
  ///
  /// The commit sets each item's times.
  package var items: [FileName: Item?]
  /// What the author of the edit saw, for names in `items`: what another device made of it since is kept as a conflict. A name
  /// that is not here is replaced without a look.
  package var seen: [FileName: SeenFile] = [:]
  /// The one revision that the edit is of, where it must not be applied to any other: then it fails with
  /// `changedMeanwhile`. Nil for an edit of whatever there is.
  package var base: ContentDigest?
  /// Names in `items` whose file the author gave or left that name without changing the file, and when that had last
  /// changed: what others made of it meanwhile stays.
  package var unchangedFiles: [FileName: HybridTime] = [:]
  /// Whether every name of each file in `items` is in one of the edits of the commit; otherwise the commit looks for the
  /// others and changes the file there as well.
  package var hasAllNames = false
  /// Whether the author of the edit went by a mounted view: there the record was not deleted, and where the edit deletes it, it
  /// was empty. What others have made of it since is kept.
  package var isOfView = false
  /// Whether somebody has decided for what `items` hold: it counts as changed by this edit even where it stands there already, so
  /// that what others make of it meanwhile does not replace it as if nobody had.
  package var isDecision = false
  /// Whether files go that are in a part of the record's list which cannot be read, unless `items` has them; otherwise
  /// the edit fails where it needs that part.
  package var leavesOutUnreadable = false

  package init(
    record: RecordID, isNew: Bool = false, place: RecordPlace? = nil,
    attributes: RecordAttributes? = nil, items: [FileName: Item?] = [:]
  ) {
    self.record = record
    self.isNew = isNew
    self.place = place
    self.attributes = attributes
    self.items = items
  }
}

extension RecordEdit {
  /// Names in a record were changed, and so its time.
  package struct Touch: Sendable {
    package let time: FileTimestamp
    /// The record's time as it was then; nil where that is not known.
    let before: FileTimestamp?

    package init(time: FileTimestamp, over before: FileTimestamp? = nil) {
      self.time = time
      self.before = before
    }
  }
}

/// What a commit did.
package struct Commit: Sendable {
  /// The counter of this device's head; unchanged when nothing had to be written.
  package var counter: UInt64
  /// The entries of the records that were written.
  package var entries: [RecordEntry] = []
  /// What stands under the names that its edits gave a file.
  package var items: [RecordID: [FileName: Item]] = [:]
  /// Files that its edits have removed: names that a file had, and for which it got no other one.
  package var removed: [RecordID: Set<FileName>] = [:]
  /// Edits that could not be applied, because what they build on cannot be read; the others are
  /// committed all the same.
  package var failures: [RecordID: VaultError] = [:]
  /// Items that were left out of their edits, because something of their content is not to be had.
  package var heldBack: [RecordID: [FileName: VaultError]] = [:]

  /// Why something is not part of the commit; nil if everything is.
  package var firstFailure: VaultError? {
    failures.values.first ?? heldBack.values.lazy.compactMap(\.values.first).first
  }

  /// What of an edit is not part of the commit; nil if all of it is.
  func leftOut(of edit: RecordEdit) -> RecordEdit? {
    if failures[edit.record] != nil { return edit }
    guard let names = heldBack[edit.record] else { return nil }
    var rest = RecordEdit(
      record: edit.record, items: edit.items.filter { names[$0.key] != nil })
    rest.seen = edit.seen.filter { names[$0.key] != nil }
    rest.unchangedFiles = edit.unchangedFiles.filter { names[$0.key] != nil }
    rest.hasAllNames = edit.hasAllNames
    rest.isOfView = edit.isOfView
    return rest
  }
}

extension RecordEdit {
  /// Whether nothing but the directory's time changes, which something else has brought about.
  package var isOfTimeAlone: Bool { place == nil && attributes == nil && items.isEmpty && !isNew }

  /// Under what an edit becomes a revision.
  struct Terms {
    let time: HybridTime
    let device: DeviceID
    /// The counter of the device's head that will name the revision.
    let counter: UInt64
    /// Whether removed items must be remembered for other devices.
    let keepsTombstones: Bool
    /// The records that have names of a file after the commit.
    let names: [FileID: Set<RecordID>]
  }

  /// The revision that this edit makes of `base`; nil if it changes nothing.
  ///
  /// - Parameters:
  ///   - base: The current revision; nil for a new record.
  ///   - load: Gives a page of the item tree.
  /// - Throws: `notFound` when there is no revision to build on; what `load` throws.
  func applied(
    to base: NamedRevision?, under terms: Terms,
    load: @escaping (ContentDigest) throws(VaultError) -> ItemPage
  ) throws(VaultError) -> RecordRevision? {
    let (time, device) = (terms.time, terms.device)
    guard var revision = base?.revision ?? newRevision(device: device, time: time) else {
      throw .notFound(what: "the record to change")
    }
    var isChanged = setPlaceAndAttributes(of: &revision, time: time) || base == nil
    if leavesOutUnreadable, try leaveOutUnreadable(of: &revision, load) { isChanged = true }
    if try setItems(of: &revision, terms, load) { isChanged = true }
    guard isChanged else { return nil }
    revision.version[device] = terms.counter
    revision.time = time
    revision.device = device
    revision.previous = base.map { [$0.digest] } ?? []
    // Whoever stores it signs it.
    revision.signature = nil
    revision.removePadding()
    if let replaced = base?.revision, revision.place.isDeleted, !replaced.place.isDeleted {
      revision.pad(toSizeOf: replaced)
    }
    return revision
  }

  /// Puts the items of the edit in their places, and takes those away that it removes.
  ///
  /// - Returns: Whether any of them is another one now.
  private func setItems(
    of revision: inout RecordRevision, _ terms: Terms,
    _ load: @escaping (ContentDigest) throws(VaultError) -> ItemPage
  ) throws(VaultError) -> Bool {
    var isChanged = false
    for (name, item) in items {
      let old = try pages(load) { try revision.item(named: name, load: $0) }
      if let item {
        guard let new = replacement(of: old, by: item, time: terms.time) else { continue }
        try pages(load) { load in try revision.set(new, load: load) }
      } else {
        guard let old, !old.isDeleted else { continue }
        let records = terms.names[old.file, default: []].union(old.linkRecords).sorted()
        let tombstone = old.tombstone(at: terms.time, movedTo: records)
        try pages(load) { load in
          if terms.keepsTombstones {
            try revision.set(tombstone, load: load)
          } else {
            try revision.remove(name, load: load)
          }
        }
      }
      isChanged = true
    }
    return isChanged
  }

  /// Puts the record where the edit says, with the attributes that it says.
  ///
  /// - Returns: Whether either is another one now.
  private func setPlaceAndAttributes(
    of revision: inout RecordRevision, time: HybridTime
  ) -> Bool {
    var isChanged = false
    if let place, place != revision.place {
      (revision.place, revision.placeTime) = (place, time)
      isChanged = true
    }
    if let attributes, attributes != revision.attributes {
      (revision.attributes, revision.attributesTime) = (attributes, time)
      isChanged = true
    } else if attributes == nil, let modified, apply(modified, to: &revision, before: time) {
      isChanged = true
    }
    return isChanged
  }

  /// Gives the revision the time of a change of names in it. Whoever has set another time since has the last word, but for one
  /// that came by itself and is earlier.
  ///
  /// - Returns: Whether that is another time than before.
  private func apply(
    _ touch: Touch, to revision: inout RecordRevision, before time: HybridTime
  ) -> Bool {
    let old = revision.attributes.modified
    let isSetBack = touch.before.map { old < $0 } ?? false
    if isSetBack || revision.place.isDeleted { return false }
    let then = min(time, HybridTime(milliseconds: touch.time.milliseconds))
    let new = then >= revision.attributesTime ? touch.time : max(old, touch.time)
    if new == old { return false }
    // The other attributes are whoever's that has set them last, which this does not change.
    revision.attributes.modified = new
    return true
  }

  /// Lets the files go that are in a part of the record's list which cannot be read.
  ///
  /// - Returns: Whether there is such a part.
  private func leaveOutUnreadable(
    of revision: inout RecordRevision,
    _ load: @escaping (ContentDigest) throws(VaultError) -> ItemPage
  ) throws(VaultError) -> Bool {
    let readable = try revision.readableItems(load: load)
    if readable.gaps.isEmpty { return false }
    revision.items = ItemTree(items: readable.items.filter { $0.name != .record })
    return true
  }

  /// What takes the place of `old`; nil when nothing changes.
  private func replacement(of old: Item?, by new: Item, time: HybridTime) -> Item? {
    var new = new
    let unchanged = unchangedFiles[new.name]
    if let old, old.file == new.file {
      if unchanged != nil, !old.isDeleted || seen[new.name] ?? .nothing != .nothing {
        // Where the file's other names are has changed, at most: that is no change of this one, and brings no name back.
        let known = old.knowing(new.linkRecords)
        return known == old ? nil : known
      }
      if !old.isDeleted {
        (new.time, new.fileTime) = (old.time, old.fileTime)
        if old == new, !isDecision { return nil }
      }
    }
    (new.time, new.fileTime) = (time, unchanged)
    return new
  }

  private func newRevision(device: DeviceID, time: HybridTime) -> RecordRevision? {
    guard isNew, let place, let attributes else { return nil }
    return RecordRevision(
      record: record, place: place, placeTime: time, attributes: attributes, attributesTime: time,
      version: VersionVector(), time: time, device: device, previous: [], document: nil,
      items: ItemTree())
  }
}

/// Runs a call of `ItemTree`, whose errors are those of `load`.
func pages<Value>(
  _ load: @escaping (ContentDigest) throws(VaultError) -> ItemPage,
  _ body: (ItemTree.Load) throws -> Value
) throws(VaultError) -> Value {
  do {
    return try body(load)
  } catch let error as VaultError {
    throw error
  } catch let error as ModelError {
    throw .damagedFileList(error)
  } catch {
    preconditionFailure("the item tree threw \(error)")
  }
}
