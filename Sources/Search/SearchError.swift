import CSQLite
import Vault
import VaultErrors

/// Why nothing could be searched.
package enum SearchError: Error {
  case vault(VaultError)
  /// SQLite could not do what it was asked, for want of memory as a rule.
  case index(code: Int32)

  /// In SQLite's words, which name nothing of a record.
  package static func text(ofCode code: Int32) -> String { String(cString: sqlite3_errstr(code)) }
}

/// Runs a call of SQLite, and says its failure in our words.
func sqlite(_ body: () -> Int32) throws(SearchError) {
  let code = body()
  guard [SQLITE_OK, SQLITE_ROW, SQLITE_DONE].contains(code) else { throw .index(code: code) }
}

/// Makes a call of the vault, and says its failure in our words: `try reading(member.revision(name))`.
func reading<Value>(
  _ call: @autoclosure () throws(VaultError) -> Value
) throws(SearchError) -> Value {
  do { return try call() } catch { throw .vault(error) }
}

/// Makes several calls of the vault, and says the failure of any of them in our words.
func reading<Value>(_ body: () throws(VaultError) -> Value) throws(SearchError) -> Value {
  do { return try body() } catch { throw .vault(error) }
}
