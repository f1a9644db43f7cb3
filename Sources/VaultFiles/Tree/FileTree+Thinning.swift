import Log
import Threads
import Vault
import VaultErrors
import VaultModel

extension FileTree {
  /// Starts the thread that thins what this mount has written.
  func startThinning() {
    guard options.thinning != nil, !isReadOnly else { return }
    thinner.start { [self] in
      while true {
        let task = thinner.nextTask(
          commitDelay: ThinningSchedule.interval, pollInterval: ThinningSchedule.interval)
        if task == .stop { return }
        // A mount that is only read is no vault that nobody uses.
        do {
          try vault.noteClock()
          log.succeeded(.thinning)
        } catch { log.failed(.thinning, error) }
        // What could not be done is logged by `thin`, and done the next time.
        do throws(FileError) { try thin(removesAll: false) } catch {}
      }
    }
  }

  /// Thins what this mount has written, and removes what nothing names any more; nothing while another process of this
  /// device has the vault open, or a sync runs.
  ///
  /// - Parameter removesAll: False where little, or what takes long to find, may wait.
  /// - Throws: The first failure; the other members are thinned all the same.
  package func thin(removesAll: Bool = true) throws(FileError) {
    try thin(members, removesAll: removesAll)
  }

  /// A member with more records is not looked through when a person waits for the mount to end.
  private static let partingRecordCount = 10_000

  /// Thins at the end of the mount, for which a person may wait: members with many records are left out.
  func thinAtLast() throws(FileError) {
    let small = members.filter { $0.member.recordCount <= Self.partingRecordCount }
    try thin(small, removesAll: true)
  }

  private func thin(_ members: [ShownMember], removesAll: Bool) throws(FileError) {
    var failure: FileError?
    for member in members {
      do { try thin(member, removesAll: removesAll) } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  private func thin(_ shown: ShownMember, removesAll: Bool) throws(FileError) {
    guard let thinning = options.thinning, mayChange(shown.member),
      !withTree({ $0[shown.view].hasEnded })
    else { return }
    let identity = LogIdentity(shown.member.id)
    do {
      if try thin(shown, thinning, removesAll: removesAll) {
        log.succeeded(.thinning, of: identity)
      }
    } catch {
      log.failed(.thinning, error, of: identity)
      throw FileError(error)
    }
  }

  /// - Returns: False if another process of this device keeps it from being done.
  private func thin(
    _ shown: ShownMember, _ thinning: Thinning, removesAll: Bool
  ) throws(VaultError) -> Bool {
    let (member, writing) = (shown.member, shown.saving.writing)
    let seen = thinning.seenElsewhere(member).counter
    let records = writing.withLock {
      $0.thinning.records(at: .now) {
        member.recordsWrittenHere(forThinningTo: thinning.policy, seenElsewhere: seen)
      }
    }
    if !records.isEmpty {
      let isDone = try vault.whileAlone { () throws(VaultError) in
        try writing.withLock { (writing) throws(VaultError) in
          let aging = try member.thin(records, to: thinning.policy, seenElsewhere: seen)
          writing.thinning.finish(records, aging: aging)
        }
      }
      apply(shown.news.take(), to: shown)
      guard isDone else { return false }
    }
    let count = member.replacedObjectCount
    let began = ContinuousClock.now
    let isTime = writing.withLock { $0.thinning.removes(count, at: began) }
    guard isTime || removesAll && count > 0 else { return true }
    try removeReplaced(of: shown, thinning)
    let ended = ContinuousClock.now
    writing.withLock { $0.thinning.rest(after: ended - began, at: ended) }
    return true
  }

  private func removeReplaced(
    of shown: ShownMember, _ thinning: Thinning
  ) throws(VaultError) {
    let (member, seenElsewhere) = (shown.member, thinning.seenElsewhere)
    let isAlone = try vault.whileAlone { () throws(VaultError) in
      member.forgetReplaced(besides: seenElsewhere(member))
    }
    guard isAlone,
      let unneeded = member.unneededReplaced(seenElsewhere: seenElsewhere(member)),
      !unneeded.digests.isEmpty
    else { return }
    _ = try vault.whileAlone { () throws(VaultError) in
      // A program may hand content of one open file on to another between the two looks.
      let inUse = try namesInUse(shown).union(namesInUse(shown))
      try member.removeReplaced(
        unneeded, except: inUse, seenElsewhere: seenElsewhere(member))
    }
  }

  /// The objects that files name here which no commit may name: those that are open, removed or not committed.
  private func namesInUse(_ shown: ShownMember) throws(VaultError) -> Set<ContentDigest> {
    var (contents, drafts) = withTree { tree in
      let views = tree.allViews.filter { $0.member.id == shown.member.id }
      let files = views.flatMap { view in
        view.files.values.filter { $0.draft != nil || $0.hasUncommittedContent }
      }
      return (files.map(\.content) + views.flatMap(\.pendingContents), files.compactMap(\.draft))
    }
    var names: Set<ContentDigest> = []
    for draft in drafts {
      let (content, objects) = draft.content.withLock { $0.contentInUse }
      contents.append(content)
      names.formUnion(objects)
    }
    for content in contents {
      names.formUnion(content.objects)
      guard case .indexes = content else { continue }
      names.formUnion(try shown.member.chunks(of: content).lazy.compactMap(\.self))
    }
    return names
  }
}

extension MemberView {
  /// The content of files that were moved, and whose new place no commit has.
  fileprivate var pendingContents: [Item.Content] {
    [pending, inFlight].flatMap { changes in
      changes.flatMap { record, change in
        change.items.keys.compactMap { name -> Item.Content? in
          switch directories[record]?.files?[name] {
          case .stored(let item): item.content
          case .node(let file): file.content
          case nil: nil
          }
        }
      }
    }
  }
}

extension Item.Content {
  /// The objects that it names itself.
  fileprivate var objects: [ContentDigest] {
    switch self {
    case .none, .inline, .symlink: []
    case .chunks(let names): names.compactMap { $0 }
    case .indexes(let names): names
    }
  }
}
