import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing
import VaultModel

@testable import Log

/// What fails stands in the state until it is over, for whoever asks and for the next process.
@Suite struct FailureFileTests {
  private let folder: TemporaryFolder
  private let clock = Clock()
  private var file: FailureFile {
    FailureFile(stateFolder: folder.path) { [clock] in clock.now.withLock { $0 } }
  }
  private final class Clock: Sendable {
    let now = Mutex<UInt64>(1_000_000)
  }

  private let member = LogIdentity(MemberID.zero)

  init() throws { folder = try TemporaryFolder() }

  /// The log of another process.
  private func begin() -> BackgroundLog {
    let log = BackgroundLog(nil, failures: file) { [clock] in clock.now.withLock { $0 } }
    log.begin()
    return log
  }

  private func advance(_ seconds: UInt64) { clock.now.withLock { $0 += seconds * 1000 } }

  @Test func aFailureIsThereUntilItIsOver() throws {
    let log = begin()
    #expect(file.load() == [])
    for _ in 0..<25 {
      log.failed(.commit, kind: ErrorKind("io", number: 5), of: member)
      advance(1)
    }
    log.failed(.audit, kind: "noSpace")
    let kept = file.load()
    #expect(kept.map(\.work) == [.audit, .commit])
    #expect(kept[1].kind == "io" && kept[1].number == 5 && kept[1].member == MemberID.zero.hex)
    #expect(kept[1].first == 1_000_000 && kept[1].last == 1_020_000 && kept[1].count == 21)
    log.succeeded(.commit)
    #expect(file.load().count == 2)
    log.succeeded(.commit, of: member)
    #expect(file.load().map(\.work) == [.audit])
    log.succeeded(.audit)
    #expect(file.load() == [])
  }

  @Test func whatIsSettledIsForgottenUntilItFailsAgain() throws {
    let path = folder.appending("failures").string
    file.forget("rolledBack")
    #expect(access(path, F_OK) != 0)
    let log = begin()
    for work in [BackgroundWork.thinning, .refresh] { log.failed(work, kind: "rolledBack") }
    log.failed(.audit, kind: "noSpace")
    file.forget("rolledBack")
    #expect(file.load().map(\.work) == [.audit])
    advance(11)
    log.failed(.refresh, kind: "rolledBack")
    #expect(file.load().map(\.work) == [.refresh, .audit])
  }

  @Test func theNextProcessEndsWhatTheLastOneLeft() throws {
    begin().failed(.commit, kind: "noSpace", of: member)
    let next = begin()
    next.succeeded(.audit)
    #expect(file.load().count == 1)
    next.succeeded(.commit, of: member)
    #expect(file.load() == [])
  }

  @Test func processesAtTheSameTimeKeepEachOthersFailures() throws {
    let (first, second) = (begin(), begin())
    first.failed(.commit, kind: "noSpace", of: member)
    second.failed(.redo, kind: "damaged")
    #expect(Set(file.load().map(\.work)) == [.commit, .redo])
    first.succeeded(.commit, of: member)
    #expect(file.load().map(\.work) == [.redo])
  }

  @Test func whatNobodyRunsIntoForAWeekIsForgotten() throws {
    begin().failed(.ending, kind: "noSpace")
    advance(7 * 24 * 3600 - 1)
    #expect(file.load().count == 1)
    advance(1)
    #expect(file.load() == [])
  }

  @Test func itHasItsWholeLengthFromTheBeginning() throws {
    let log = begin()
    let path = folder.appending("failures").string
    var status = stat()
    #expect(lstat(path, &status) == 0 && status.st_size == 4096 && status.st_blocks > 0)
    #expect(status.st_mode & 0o777 == 0o600)
    for work in BackgroundWork.allCases {
      for byte in UInt8(0)..<8 {
        let member = try #require(MemberID([UInt8](repeating: byte, count: MemberID.byteCount)))
        log.failed(work, kind: "noSpace", of: LogIdentity(member))
      }
    }
    #expect(lstat(path, &status) == 0 && status.st_size == 4096)
    #expect(file.load().first?.work == .ending && file.load().count > 16)
  }

  @Test func whatIsNoLineOfOursIsPassedOver() throws {
    let path = folder.appending("failures")
    let file = try FileDescriptor.open(
      path, .writeOnly, options: [.create], permissions: .ownerReadWrite)
    _ = try file.closeAfter {
      try file.writeAll(
        "failed\nfailed commit noSpace x - 1 2\nfailed dance a - - 1 999999 1\n".utf8)
    }
    #expect(self.file.load() == [])
    begin().failed(.commit, kind: "noSpace")
    #expect(self.file.load().count == 1)
  }

  @Test func whatIsWrongWithARemoteIsKeptWithTheRemote() throws {
    begin().failed(.sync, kind: "unreachable", of: LogIdentity(remote: 1))
    #expect(file.load() == [])
  }
}
