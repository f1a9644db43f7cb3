import Glibc
import Logging
import SystemPackage
import TestSupport
import Testing
import VaultModel

@testable import Log

/// Where lines go: the journal, a file where there is none, and never beyond the file's limit.
@Suite struct DestinationTests {
  private let folder: TemporaryFolder
  private var log: FilePath { folder.appending("log") }

  init() throws { folder = try TemporaryFolder() }

  private func line(_ message: String = "commit failed") -> LogLine {
    LogLine(level: .error, message: message, fields: [("count", "1"), ("kind", "noSpace")])
  }

  private func text(_ path: FilePath) throws -> String {
    let file = try FileDescriptor.open(path, .readOnly)
    return try file.closeAfter {
      var bytes = [UInt8](repeating: 0, count: 1 << 20)
      let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
      return String(decoding: bytes[..<count], as: UTF8.self)
    }
  }

  @Test func theJournalGetsFields() throws {
    let journal = try FakeJournal(at: folder.appending("socket"))
    let logger = Logger(
      [JournalSocket(path: journal.path), LogFile(stateFolder: folder.path)],
      vault: LogValue(VaultID.zero))
    let background = BackgroundLog(logger, failures: nil)
    let member = LogIdentity(MemberID.zero)
    background.failed(.commit, kind: ErrorKind("io", number: 5), of: member, ["files": LogValue(2)])
    let entry = try #require(journal.next())
    #expect(entry["PRIORITY"] == "3")
    #expect(entry["SYSLOG_IDENTIFIER"] == "kinvault")
    #expect(entry["KINVAULT_KIND"] == "io" && entry["KINVAULT_NUMBER"] == "5")
    #expect(entry["KINVAULT_FILES"] == "2" && entry["KINVAULT_COUNT"] == "1")
    #expect(entry["KINVAULT_MEMBER"] == MemberID.zero.hex)
    #expect(entry["KINVAULT_VAULT"] == VaultID.zero.hex)
    #expect(entry["MESSAGE"]?.hasPrefix("commit failed count=1 files=2 kind=io ") == true)
    background.failed(.commit, kind: "io", of: member)
    #expect(journal.next()?["MESSAGE"] != nil)
    background.failed(.commit, kind: "io", of: member)
    #expect(journal.next() == nil)
    background.succeeded(.commit, of: member)
    #expect(journal.next()?["MESSAGE"]?.hasPrefix("commit works again count=3 ") == true)
    #expect(access(log.string, F_OK) != 0)
  }

  @Test func whereNoJournalTakesItAFileDoes() throws {
    let logger = Logger(
      [
        JournalSocket(path: folder.appending("none").string),
        JournalSocket(path: String(repeating: "x", count: 200)),
        LogFile(stateFolder: folder.path),
      ], vault: LogValue(VaultID.zero))
    BackgroundLog(logger, failures: nil).failed(.audit, kind: "noSpace")
    #expect(try text(log).contains(" warning [\(getpid())] audit failed count=1 kind=noSpace "))
    var status = stat()
    #expect(lstat(log.string, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func theFileIsRotatedAtItsLimit() throws {
    let file = LogFile(stateFolder: folder.path, limit: 1000)
    for number in 0..<100 { #expect(file.write(line("line \(number)"))) }
    let (newest, older) = (try text(log), try text(folder.appending("log.1")))
    #expect(newest.utf8.count <= 1000 && older.utf8.count <= 1000)
    #expect(newest.contains("line 99 ") && !newest.contains("line 0 "))
    let numbers = (older + newest).split(separator: "\n").compactMap {
      $0.split(separator: " ").drop { $0 != "line" }.dropFirst().first.flatMap { Int($0) }
    }
    #expect(numbers == Array((100 - numbers.count)..<100))
    #expect(access(folder.appending("log.2").string, F_OK) != 0)
  }

  @Test func severalWritersLoseNoLine() throws {
    let folder = folder
    try Threads.run(4) { writer in
      let file = LogFile(stateFolder: folder.path, limit: 1 << 20)
      for number in 0..<100 {
        #expect(file.write(LogLine(level: .info, message: "w\(writer)n\(number)", fields: [])))
      }
    }
    let lines = try text(log).split(separator: "\n").compactMap { $0.split(separator: " ").last }
    #expect(lines.count == 400 && Set(lines).count == 400)
  }

  @Test func aFileThatCannotBeWrittenDoesNoHarm() throws {
    #expect(symlink("/dev/full", log.string) == 0)
    #expect(!LogFile(stateFolder: folder.path).write(line()))
    #expect(!LogFile(stateFolder: folder.appending("none")).write(line()))
    let logger = Logger(
      [LogFile(stateFolder: folder.appending("none"))], vault: LogValue(VaultID.zero))
    let background = BackgroundLog(
      logger, failures: FailureFile(stateFolder: folder.appending("none")))
    background.begin()
    background.failed(.commit, kind: "noSpace")
    background.succeeded(.commit)
  }
}
