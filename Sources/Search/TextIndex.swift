import CSQLite

/// The words of many texts, each under a number from 1 on, in memory. It keeps no text: only which words stand where.
/// For one thread at a time.
///
/// FTS5 without content. A text is never taken out of it, which would take the text itself: whoever uses it knows which
/// numbers count.
final class TextIndex {
  private let connection: Connection
  private var insertion: Statement?

  init() throws(SearchError) {
    connection = try Connection()
    try connection.run("PRAGMA journal_mode = OFF")
    let columns = RecordText.columns.joined(separator: ", ")
    try connection.run(
      "CREATE VIRTUAL TABLE texts USING fts5(\(columns), content = '', columnsize = 0, "
        + "tokenize = 'kinvault')")
    // So much is gathered before it is written as a segment, which all have to be merged later.
    try connection.run("INSERT INTO texts(texts, rank) VALUES('hashsize', 16777216)")
  }

  /// The index that this is the image of. Fails for what is none.
  init(image: UnsafeRawBufferPointer) throws(SearchError) {
    connection = try Connection()
    guard let copy = sqlite3_malloc64(UInt64(image.count)) else {
      throw .index(code: SQLITE_NOMEM)
    }
    UnsafeMutableRawBufferPointer(start: copy, count: image.count).copyMemory(from: image)
    let handle = connection.handle
    // Frees the copy also when it fails.
    try sqlite {
      sqlite3_deserialize(
        handle, "main", copy.assumingMemoryBound(to: UInt8.self), Int64(image.count),
        Int64(image.count),
        UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE))
    }
    try connection.run("PRAGMA journal_mode = OFF")
    _ = try rows(matching: "\"\"")
  }

  /// Adds texts; each number once.
  func add(_ texts: [(row: Int, text: RecordText)]) throws(SearchError) {
    guard !texts.isEmpty else { return }
    let insertion: Statement
    if let made = self.insertion { insertion = made } else { insertion = try makeInsertion() }
    self.insertion = insertion
    try connection.run("BEGIN")
    for (row, text) in texts {
      try insertion.bind(1, row)
      for (number, column) in text.texts.enumerated() {
        try insertion.bind(Int32(number + 2), column)
      }
      _ = try insertion.step()
      insertion.reset()
    }
    try connection.run("COMMIT")
  }

  private func makeInsertion() throws(SearchError) -> Statement {
    let columns = RecordText.columns
    let values = columns.map { _ in "?" }.joined(separator: ", ")
    return try Statement(
      "INSERT INTO texts(rowid, \(columns.joined(separator: ", "))) VALUES(?, \(values))",
      connection)
  }

  /// How much memory it takes.
  var byteCount: Int {
    get throws(SearchError) {
      try connection.number("PRAGMA page_count") * connection.number("PRAGMA page_size")
    }
  }

  /// Brings it into the form that takes the least and answers fastest.
  func optimize() throws(SearchError) {
    try connection.run("INSERT INTO texts(texts) VALUES('optimize')")
  }

  /// The numbers of the texts that an expression of FTS5 matches.
  func rows(matching expression: String) throws(SearchError) -> [Int] {
    let statement = try Statement("SELECT rowid FROM texts WHERE texts MATCH ?", connection)
    try statement.bind(1, expression)
    var rows: [Int] = []
    while try statement.step() { rows.append(statement.integer) }
    return rows
  }

  /// Every word in it, each with a line feed after it.
  func vocabulary() throws(SearchError) -> [UInt8] {
    try connection.run("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, texts, row)")
    defer { sqlite3_exec(connection.handle, "DROP TABLE temp.vocabulary", nil, nil, nil) }
    let statement = try Statement("SELECT term FROM temp.vocabulary", connection)
    var terms: [UInt8] = []
    while try statement.step() {
      terms.append(contentsOf: statement.bytes)
      terms.append(Vocabulary.separator)
    }
    return terms
  }

  /// The image of it, for `init(image:)`.
  func image() throws(SearchError) -> [UInt8] {
    var size: Int64 = 0
    guard let bytes = sqlite3_serialize(connection.handle, "main", &size, 0) else {
      throw .index(code: SQLITE_NOMEM)
    }
    defer { sqlite3_free(bytes) }
    return Array(UnsafeRawBufferPointer(start: bytes, count: Int(size)))
  }
}
