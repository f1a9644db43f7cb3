import VaultErrors
import VaultModel

/// What a person is told to do about what a check found.
struct CheckAdvice {
  /// Those that are more than a note.
  let problems: [CheckPrint.ProblemRow]
  /// What to type for a remote.
  let remote: String
  /// Whether it was checked after a repair.
  let isRepaired: Bool

  /// Paragraphs, of which there is one at least where there is a problem.
  var paragraphs: [String] {
    var kinds = Set(problems.filter { !$0.isLoss }.compactMap { Problem.Kind(rawValue: $0.kind) })
    var paragraphs = onLosses
    for (some, text) in Self.byKind where !kinds.isDisjoint(with: some) {
      kinds.subtract(some)
      paragraphs.append(text)
    }
    if !kinds.isEmpty { paragraphs.append(Self.onAnythingElse) }
    return paragraphs
  }

  private var onLosses: [String] {
    let losses = problems.filter(\.isLoss)
    if losses.isEmpty { return [] }
    let fetching = losses.contains(where: \.isLostHead) ? [Self.onLostHeads] : []
    let copies = """
        Copy the encrypted files named above from a backup of this folder back to where they were,
        then check again. Everything else can be used meanwhile.
        A remote may have them too: kinvault check --repair --remote \(remote)
      """
    if losses.allSatisfy(\.isOnlyInHistory) {
      return fetching + [
        copies,
        """
          Nothing that is there now is hit. An older revision that nothing can mend goes, and the problem with
          it, when it is no longer kept: kinvault collect --keep-days DAYS
        """,
      ]
    }
    if isRepaired { return fetching + [copies] }
    return fetching + [
      copies, "  Where nothing has them, kinvault check --repair goes on with what is still there.",
    ]
  }

  private static let onLostHeads = """
      What a device has written shows again once its file among the heads of the member is back. A sync
      with a remote that has it brings it: kinvault sync
    """

  private static let byKind: [(kinds: Set<Problem.Kind>, text: String)] = [
    (
      [.rollback, .fork],
      """
        Parts of the folder are older than they were, or two copies of this device have written. Look for
        a newer copy of the folder, and use one copy on one machine only.
      """
    ),
    (
      [.waiting],
      "  What waits counts by itself once what it needs has come from whoever has that: kinvault sync"
    ),
    (
      [.unlisted],
      "  A member that was made on a removed device comes back when you say that it is yours: kinvault member keep"
    ),
    (
      [.untrusted],
      "  What is not trusted is ignored, and does no harm where it lies; why it is not stands above."
    ),
  ]

  /// Divided keys, access that was not taken away, what a crash left: the reason of each says what it wants.
  private static let onAnythingElse = "  What else there is to do stands with each problem above."
}

extension CheckPrint.ProblemRow {
  /// Whether what a device has written last of a member is gone, and not only a part of it.
  fileprivate var isLostHead: Bool {
    guard kind == Problem.Kind.missing.rawValue, case .head? = VaultPath(parsing: path) else {
      return false
    }
    return true
  }
}
