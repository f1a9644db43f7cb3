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
