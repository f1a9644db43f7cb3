/// A revision and its digest, by which everything names it.
package struct NamedRevision: Sendable {
  package let digest: ContentDigest
  package let revision: RecordRevision

  package init(_ revision: RecordRevision, named digest: ContentDigest) {
    self.digest = digest
    self.revision = revision
  }
}
