import CFullText
import CSQLite

/// A database in memory alone, which knows our words (`kv_register_words`): SQLite writes no file for it, also no temporary
/// one. For one thread at a time.
final class Connection {
  let handle: OpaquePointer

  init() throws(SearchError) {
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
      | SQLITE_OPEN_PRIVATECACHE
    let code = sqlite3_open_v2(":memory:", &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      sqlite3_close_v2(opened)
      throw .index(code: code == SQLITE_OK ? SQLITE_NOMEM : code)
    }
    handle = opened
    // Where temporary tables go is decided when SQLite is built; Debian's writes files unless it is told.
    try run("PRAGMA temp_store = MEMORY")
    guard try number("PRAGMA temp_store") == 2 else { throw .index(code: SQLITE_MISUSE) }
    try sqlite { kv_register_words(handle) }
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ statement: String) throws(SearchError) {
    try sqlite { sqlite3_exec(handle, statement, nil, nil, nil) }
  }

  /// What a statement gives that gives one number.
  func number(_ statement: String) throws(SearchError) -> Int {
    let prepared = try Statement(statement, self)
    guard try prepared.step() else { throw .index(code: SQLITE_MISUSE) }
    return prepared.integer
  }
}

/// A prepared statement.
final class Statement {
  private let handle: OpaquePointer
  // It must not outlive it.
  private let connection: Connection

  init(_ text: String, _ connection: Connection) throws(SearchError) {
    var prepared: OpaquePointer?
    try sqlite { sqlite3_prepare_v2(connection.handle, text, -1, &prepared, nil) }
    guard let prepared else { throw .index(code: SQLITE_MISUSE) }
    handle = prepared
    self.connection = connection
  }

  deinit { sqlite3_finalize(handle) }

  func bind(_ position: Int32, _ value: Int) throws(SearchError) {
    try sqlite { sqlite3_bind_int64(handle, position, Int64(value)) }
  }

  func bind(_ position: Int32, _ text: String) throws(SearchError) {
    var text = text
    // SQLITE_TRANSIENT: it takes a copy.
    let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) {
        sqlite3_bind_text(handle, position, $0.baseAddress, Int32($0.count), copying)
      }
    }
    try sqlite { code }
  }

  /// Whether there is another row.
  func step() throws(SearchError) -> Bool {
    let code = sqlite3_step(handle)
    try sqlite { code }
    return code == SQLITE_ROW
  }

  func reset() { sqlite3_reset(handle) }

  /// The number in the first column.
  var integer: Int { Int(sqlite3_column_int64(handle, 0)) }

  /// The bytes of the text in the first column, good until the next step.
  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: sqlite3_column_blob(handle, 0), count: Int(sqlite3_column_bytes(handle, 0)))
  }
}
