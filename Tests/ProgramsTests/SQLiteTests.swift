import Places
import SystemPackage
import Testing

/// SQLite: byte-range locks, a shared mapping for the WAL index, fsync, truncation.
@Suite struct SQLiteTests {
  static let journals = ["delete", "truncate", "persist", "wal"]

  @Test(arguments: Place.all, journals)
  func keepsADatabase(place: Place, journal: String) throws {
    try place.withFolder { folder in
      #expect(
        try Self.sqlite(
          "PRAGMA journal_mode=\(journal); CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB);", folder)
          == "\(journal)\n")
      for round in 0..<10 {
        try Self.sqlite(
          """
          BEGIN;
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
            INSERT INTO t(b) SELECT randomblob(i * 10) FROM n;
          UPDATE t SET b = randomblob(50) WHERE a % 7 = \(round % 7);
          DELETE FROM t WHERE a % 13 = \(round);
          COMMIT;
          """, folder)
      }
      #expect(try Self.sqlite("PRAGMA integrity_check;", folder) == "ok\n")
      let count = try Self.sqlite("SELECT count(*) FROM t;", folder)
      try Self.sqlite("VACUUM;", folder)
      #expect(
        try Self.sqlite("PRAGMA integrity_check; SELECT count(*) FROM t;", folder) == "ok\n" + count
      )
    }
  }

  @Test(arguments: Place.all, ["delete", "wal"])
  func sharesADatabaseBetweenProcesses(place: Place, journal: String) throws {
    try place.withFolder { folder in
      try Self.sqlite(
        "PRAGMA journal_mode=\(journal); CREATE TABLE t(writer INTEGER, n INTEGER);", folder)
      let program = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
        for number in range(60):
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO t VALUES (?, ?)", (int(sys.argv[2]), number))
            database.execute("COMMIT")
        """
      let writers = try (0..<3).map {
        try RunningCommand(
          Command(["python3", "-c", program, folder.appending("base.sqlite").string, "\($0)"]))
      }
      for writer in writers { #expect(try writer.end() == 0) }
      #expect(
        try Self.sqlite("SELECT count(*), count(DISTINCT writer), sum(n) FROM t;", folder)
          == "180|3|5310\n")
      #expect(try Self.sqlite("PRAGMA integrity_check;", folder) == "ok\n")
    }
  }

  /// A writer that is killed in the middle of a transaction leaves nothing of it.
  @Test(arguments: Place.all, ["delete", "wal"])
  func rollsBackWhatAKilledWriterBegan(place: Place, journal: String) throws {
    try place.withFolder { folder in
      try Self.sqlite(
        "PRAGMA journal_mode=\(journal); CREATE TABLE t(b BLOB); INSERT INTO t VALUES (randomblob(100));",
        folder)
      let writer = try RunningCommand(
        Command([
          "python3", "-uc",
          """
          import sqlite3, sys
          database = sqlite3.connect(sys.argv[1], isolation_level=None)
          database.execute("PRAGMA cache_size=5")
          database.execute("BEGIN IMMEDIATE")
          for number in range(2000):
              database.execute("INSERT INTO t VALUES (randomblob(1000))")
          print("written")
          sys.stdin.read()
          """, folder.appending("base.sqlite").string,
        ]))
      #expect(try writer.receive(within: 60) == "written")
      try writer.killNow()
      #expect(
        try Self.sqlite("PRAGMA integrity_check; SELECT count(*) FROM t;", folder) == "ok\n1\n")
    }
  }

  @discardableResult
  private static func sqlite(_ statements: String, _ folder: FilePath) throws -> String {
    try Command(
      ["sqlite3", "-bail", "-cmd", ".timeout 60000", "base.sqlite", statements], in: folder
    ).succeed()
  }
}
