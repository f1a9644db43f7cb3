import Rendering
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

/// The searchable words of one member's records, brought up to date, once something has changed, by comparing which revisions
/// it has with those that the manifest names: nobody who writes has to know of it. For one thread at a time.
final class MemberIndex {
  let member: Member
  let cutter: WordCutter
  private let renderer: Renderer?
  private var words: TextIndex
  private var kept: IndexStorage
  /// What has come since the index was kept as a whole.
  private var additions: [IndexStorage.Addition] = []
  /// In which row, from 0 on, the newest text of each record is.
  private var rowOf: [RecordID: Int] = [:]
  private var hasNews = false
  private let changes: Changes
  /// Whether it has all but what `changes` tells.
  private var isUpToDate = false

  /// What the manifest says, as of the last `catchUp`.
  private(set) var entries: [RecordEntry] = []
  /// Of each row the entry in `entries`; -1 where the text counts no more.
  private(set) var entryOf: [Int32] = []
  private var knownFolders: Folders?

  /// So many texts are read, on all processors, before they are put into the index.
  private static let batchSize = 256
  /// So many texts at most are kept in the journal, which is written anew with each of them.
  private static let journalLimit = 256
  private static let journalByteLimit = 4 << 20
  /// An index of so many bytes takes only titles from then on, so that nobody who writes fills everyone's memory.
  private static let byteLimit = 256 << 20

  /// One that has nothing yet.
  private init(
    of member: Member, _ cutter: WordCutter, _ renderer: Renderer?
  ) throws(SearchError) {
    (self.member, self.cutter, self.renderer) = (member, cutter, renderer)
    changes = Changes(of: member, by: .anybody)
    (words, kept) = try Self.empty()
  }

  /// The index as it was kept last, or an empty one.
  static func load(
    of member: Member, _ cutter: WordCutter, _ renderer: Renderer?
  ) throws(SearchError) -> MemberIndex {
    let index = try MemberIndex(of: member, cutter, renderer)
    try index.loadKept()
    return index
  }

  private func loadKept() throws(SearchError) {
    guard
      let file = try reading(member.derived.load(DerivedContent(.searchIndex)))
    else { return }
    do {
      let loaded = try IndexStorage.decode(file, by: rule) {
        (storage, image) throws(SearchError) in (try TextIndex(image: image), storage)
      }
      guard let loaded else { return }
      (words, kept) = loaded
    } catch {
      // What SQLite cannot read is made anew.
      guard case .index = error else { throw error }
      return
    }
    rowOf.reserveCapacity(kept.rows.count)
    for (row, text) in kept.rows.enumerated() { rowOf[text.record] = row }
    try loadJournal()
  }

  private var rule: IndexStorage.Rule { renderer == nil ? .withoutPDF : .withPDF }

  private static func empty() throws(SearchError) -> (TextIndex, IndexStorage) {
    (try TextIndex(), IndexStorage(mark: .random()))
  }

  private func loadJournal() throws(SearchError) {
    let file = try reading(member.derived.load(DerivedContent(.searchJournal)))
    guard let file, let journal = IndexStorage.decodeJournal(file, of: kept.mark) else { return }
    try add(journal)
    addVocabulary(of: journal)
    hasNews = false
  }

  // MARK: Bringing it up to date

  /// Takes in what the manifest names and the index has not, and forgets what it names no more.
  ///
  /// - Parameter progress: Told how many records of how many have been read.
  func catchUp(_ progress: (Int, Int) -> Void) throws(SearchError) {
    let hasChanged = !changes.take().isEmpty
    if isUpToDate, !hasChanged, kept.lacking.isEmpty { return }
    isUpToDate = false
    entries = member.allEntries()
    var needed = try findNeeded()
    // Texts that do not count any more are seldom worth a new index, until there are as many as of those that do.
    if kept.rows.count > 1000, kept.rows.count > 2 * (entries.count - needed.count) {
      (words, kept) = try Self.empty()
      (additions, rowOf, hasNews) = ([], [:], true)
      needed = try findNeeded()
    }
    var done = 0
    while done < needed.count {
      let batch = needed[done..<min(done + Self.batchSize, needed.count)]
      let found = zip(batch, try read(batch.map { entries[Int($0)] }))
      for (place, addition) in found where isStillLacking(addition) {
        if let row = rowOf[addition.row.record] { entryOf[row] = place }
      }
      let news = found.filter { !isStillLacking($1) }
      let new = news.map(\.1)
      try add(new)
      entryOf += news.map(\.0)
      if needed.count <= Self.journalLimit { addVocabulary(of: new) }
      done += batch.count
      progress(done, needed.count)
    }
    knownFolders = nil
    if hasNews { try keep() }
    isUpToDate = true
  }

  /// The entries of which the index does not have the text, as places in `entries`; says of which entries the rows are.
  private func findNeeded() throws(SearchError) -> [Int32] {
    entryOf = [Int32](repeating: -1, count: kept.rows.count)
    var needed: [Int32] = []
    for (place, entry) in entries.enumerated() where !entry.isDeleted {
      guard let row = rowOf[entry.record], kept.rows[row].revision == entry.revision,
        try !hasWhatItLacked(row)
      else {
        needed.append(Int32(place))
        continue
      }
      entryOf[row] = Int32(place)
    }
    return needed
  }

  /// Whether a text lacked something that is here now: then it is read again.
  private func hasWhatItLacked(_ row: Int) throws(SearchError) -> Bool {
    guard let object = kept.lacking[row] else { return false }
    return try reading(member.isHere(object))
  }

  /// Whether a text that was read again lacks what it lacked before, as one does of which something is damaged.
  private func isStillLacking(_ addition: IndexStorage.Addition) -> Bool {
    guard let object = addition.lacking, let row = rowOf[addition.row.record] else { return false }
    return kept.rows[row] == addition.row && kept.lacking[row] == object
  }

  private func read(_ entries: [RecordEntry]) throws(SearchError) -> [IndexStorage.Addition] {
    let (member, renderer) = (member, renderer)
    return try reading { () throws(VaultError) in
      try inParallel(entries) { (entry) throws(VaultError) in
        let (text, lacking) = try RecordText.read(entry, of: member, renderer)
        let row = IndexStorage.Row(record: entry.record, revision: entry.revision)
        return IndexStorage.Addition(row: row, lacking: lacking, text: text)
      }
    }
  }

  private func add(_ new: [IndexStorage.Addition]) throws(SearchError) {
    let first = kept.rows.count
    let isFull = try words.byteCount > Self.byteLimit
    try words.add(
      new.enumerated().map { number, addition in
        let text = isFull ? RecordText(title: addition.text.title) : addition.text
        return (row: first + number + 1, text: text)
      })
    for (number, addition) in new.enumerated() {
      kept.rows.append(addition.row)
      rowOf[addition.row.record] = first + number
      if let object = addition.lacking { kept.lacking[first + number] = object }
    }
    // More than that are kept as a whole, and their texts are not needed for it.
    if additions.count <= Self.journalLimit { additions += new }
    hasNews = hasNews || !new.isEmpty
  }

  private func addVocabulary(of new: [IndexStorage.Addition]) {
    for addition in new {
      for text in addition.text.texts { kept.vocabulary.add(cutter.words(of: text)) }
    }
  }

  // MARK: Keeping it

  /// Keeps what is new for the next process: a few texts by themselves, else all of it.
  private func keep() throws(SearchError) {
    hasNews = false
    // Of each record the last one counts.
    let last = Dictionary(additions.enumerated().map { ($1.row.record, $0) }) { $1 }
    additions = last.values.sorted().map { additions[$0] }
    if additions.count <= min(Self.journalLimit, kept.rows.count / 8) {
      let journal = IndexStorage.encodeJournal(of: kept.mark, additions)
      if journal.count <= Self.journalByteLimit {
        try store(journal, .searchJournal)
        return
      }
    }
    try words.optimize()
    kept.mark = .random()
    kept.vocabulary = Vocabulary(try words.vocabulary())
    additions = []
    try store(kept.encoded(by: rule, image: words.image()), .searchIndex)
    // Of the index before, so that it is passed over anyway.
    try reading(member.derived.remove(DerivedContent(.searchJournal)))
  }

  private func store(
    _ bytes: [UInt8], _ kind: DerivedContent.Kind
  ) throws(SearchError) {
    try reading(member.derived.store(bytes, as: DerivedContent(kind)))
  }

  func row(of record: RecordID) -> Int? { rowOf[record] }

  // MARK: Searching

  /// Whether the text in each row, from 0 on, that counts has all that is looked for. A word may also stand in the title of
  /// a folder above, if another one stands in the record itself: “emma penicillin” finds what is noted for Emma.
  func matches(_ query: SearchQuery) throws(SearchError) -> [Int] {
    let expressions = query.words.map { $0.expression(kept.vocabulary) }
    guard expressions.count > 1 else {
      return try expressions.first.map { (text) throws(SearchError) in try rows(text) } ?? []
    }
    let all = try rows(expressions.joined(separator: " AND "))
    let folders = knownFolders ?? Folders(self)
    knownFolders = folders
    // The folders that have each word in their titles; mostly there are none.
    let titled = query.words.map { folders.titled($0) }
    guard titled.contains(where: { !$0.isEmpty }) else { return all }
    var counts = [Bool](repeating: false, count: entryOf.count)
    for row in all { counts[row] = true }
    let inside = try expressions.map { (text) throws(SearchError) in
      try rows(text).reduce(into: counts) { $0[$1] = true }
    }
    return entryOf.indices.filter { row in
      if counts[row] { return true }
      guard inside.contains(where: { $0[row] }) else { return false }
      return inside.indices.allSatisfy { number in
        inside[number][row] || folders.isBelow(row, titled[number])
      }
    }
  }

  private func rows(_ expression: String) throws(SearchError) -> [Int] {
    try words.rows(matching: expression).lazy.map { $0 - 1 }.filter { row in
      entryOf.indices.contains(row) && entryOf[row] >= 0
    }
  }
}

/// Which records stand in which, and what those are called that others stand in.
struct Folders {
  private var parentOf: [Int32]
  private var titles: [(row: Int, words: [TextWord])] = []

  fileprivate init(_ index: MemberIndex) {
    parentOf = [Int32](repeating: -1, count: index.entryOf.count)
    var rows: Set<Int32> = []
    for (row, entry) in index.entryOf.enumerated() where entry >= 0 {
      guard let parent = index.entries[Int(entry)].parent.flatMap({ index.row(of: $0) }) else {
        continue
      }
      parentOf[row] = Int32(parent)
      rows.insert(Int32(parent))
    }
    for row in rows where index.entryOf[Int(row)] >= 0 {
      let title = index.entries[Int(index.entryOf[Int(row)])].title.string
      titles.append((Int(row), index.cutter.words(of: title)))
    }
  }

  /// The folders that have the word in their titles.
  func titled(_ word: SearchQuery.Word) -> Set<Int> {
    Set(titles.lazy.filter { !word.places(in: $0.words).isEmpty }.map(\.row))
  }

  /// Whether the record stands in one of these, however deep.
  func isBelow(_ row: Int, _ folders: Set<Int>) -> Bool {
    guard !folders.isEmpty else { return false }
    var next = Int(parentOf[row])
    // No deeper than records may be nested; a cycle of damaged parents ends here, too.
    for _ in 0..<1000 where next >= 0 {
      if folders.contains(next) { return true }
      next = Int(parentOf[next])
    }
    return false
  }
}
