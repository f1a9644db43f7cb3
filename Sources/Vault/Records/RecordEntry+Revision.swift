import Notes
import VaultModel

extension RecordEntry {
  /// What the manifest keeps of a revision.
  init(_ revision: RecordRevision, named name: ContentDigest, summary: FrontMatterSummary) {
    self.init(
      record: revision.record, parent: revision.place.parent, title: revision.place.title,
      type: summary.type, date: summary.date, revision: name, version: revision.version,
      time: revision.time, device: revision.device, isDeleted: revision.place.isDeleted,
      mode: revision.attributes.mode, modified: revision.attributes.modified,
      owner: revision.attributes.owner, hasUnreadableFrontMatter: summary.isUnreadable,
      isBare: revision.document == nil && revision.items.isEmpty
        && revision.attributes.xattrs.isEmpty)
  }
}

extension RecordRevision {
  /// What its note says of it, where that stands in the revision itself; nil where it stands in chunks.
  var summaryInItself: FrontMatterSummary? {
    guard let document, !document.isDeleted else { return .empty }
    switch document.content {
    case .chunks, .indexes: return nil
    case .none, .symlink: return FrontMatter.summary(of: [])
    case .inline(let bytes):
      let count = Int(min(document.size, UInt64(RecordDocument.frontMatterLimit)))
      return FrontMatter.summary(of: Array(bytes.prefix(count)))
    }
  }
}

/// What revisions say, as a manifest has it, of those that a sync has brought and opened: whoever compares entries with
/// them then need not open them once more.
package struct ReadRevisions: Sendable {
  private var entries: [ContentDigest: RecordEntry] = [:]

  package init() {}

  /// What such a revision says; nil of one whose note would have to be read elsewhere.
  package static func entry(
    of revision: RecordRevision, named name: ContentDigest
  ) -> RecordEntry? {
    revision.summaryInItself.map { RecordEntry(revision, named: name, summary: $0) }
  }

  package mutating func note(_ entry: RecordEntry) { entries[entry.revision] = entry }

  package mutating func formUnion(_ other: ReadRevisions) {
    entries.merge(other.entries) { first, _ in first }
  }

  subscript(name: ContentDigest) -> RecordEntry? { entries[name] }
}
