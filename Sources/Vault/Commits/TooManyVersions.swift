import VaultErrors
import VaultModel

extension [RecordEntry] {
  /// Whether these versions of a record together name more devices than a writer says again.
  var areCrowded: Bool {
    var sum = VersionVector()
    return contains { rival in
      sum = sum.joined(with: rival.version)
      return sum.isCrowded
    }
  }

  /// Whether no version could name all of these, each begun anew, and others beside them. Docs/Format.md, "Very many devices".
  ///
  /// Where there are few it costs nothing.
  func areTooManyToJoin(besides others: Int = 0) -> Bool {
    count + others > Limits.joinedVersions && areCrowded
  }
}

extension Member {
  /// What is told of records with more versions than can be joined.
  func problemsOfVersions(of heads: HeadsState) -> [Problem] {
    let conflicts = withRecords(heads) { $0.hasConflicts ? $0.conflicts : [:] }
    return conflicts.sorted { $0.key < $1.key }.compactMap { tooManyVersions($0.value) }
  }

  /// The same of one record.
  ///
  /// - Parameter rivals: The versions of it, the one that shows first.
  func tooManyVersions(_ rivals: [RecordEntry]) -> Problem? {
    guard let shown = rivals.first, rivals.areTooManyToJoin() else { return nil }
    return Problem(
      .unjoined, .warning, path: objects.path(of: shown.revision).string,
      reason: """
        there are \(rivals.count) versions of it that know nothing of one another, and no more than \
        \(Limits.joinedVersions) can be joined: one of them shows, and what is written shows in its place, but what \
        is saved on two devices at once is not joined. All of them stand in its history, with who signed each. Take \
        access away from whoever made them, then restore the one that is to stay; if another one shows all the \
        same, put that into a new record
        """,
      member: name.string, record: displayPath(of: shown.record))
  }
}
