import Glibc
import Log
import Logging
import Synchronization
import Testing
import Vault
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// What the threads of a mount cannot do is in the log, once, and so is that they can again.
@Suite(.timeLimit(.minutes(60))) struct BackgroundFailureTests {
  /// The lines of a log, as text.
  private final class LogMemory: LogDestination {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }

    func write(_ line: LogLine) -> Bool {
      lines.withLock { $0.append(line.text) }
      return true
    }
  }

  private let clock = TurnedClock(1_000_000_000_000)
  private let memory = LogMemory()
  private let mounted: MountedVault

  init() throws {
    let log = BackgroundLog(
      Logger([memory], vault: LogValue(VaultID.zero)), failures: nil)
    mounted = try MountedVault(clock: clock.wallClock, log: log) {
      $0.commitDelay = .milliseconds(20)
      $0.pollInterval = .milliseconds(50)
    }
    try mounted.tree.mkdir("Emma")
    try mounted.tree.write("Emma/note", "text")
    try mounted.tree.commitNow()
  }

  private func waitFor(_ start: String) -> Bool {
    for _ in 0..<4800 {
      if memory.all.contains(where: { $0.hasPrefix(start) }) { return true }
      usleep(25_000)
    }
    return false
  }

  /// Puts a file where the folder is for as long as `body` runs.
  private func blocking(_ folder: String, _ body: () throws -> Void) throws {
    #expect(rename(folder, "\(folder).aside") == 0 || mkdir("\(folder).aside", 0o700) == 0)
    let file = open(folder, O_CREAT | O_WRONLY | O_EXCL, 0o600)
    #expect(file >= 0 && close(file) == 0)
    try body()
    #expect(unlink(folder) == 0 && rename("\(folder).aside", folder) == 0)
  }

  @Test(arguments: ["audit", "redo", "refresh", "commit"])
  func whatFailsIsToldUntilItWorks(_ work: String) throws {
    let state = mounted.stateRoot.appending(mounted.vault.id.hex).string
    let member = try #require(mounted.vault.members.first).id
    let folder =
      switch work {
      case "audit": "\(state)/events"
      case "redo": "\(state)/redo"
      case "refresh": "\(mounted.folder)/members/\(member.hex)/heads"
      default: "\(state)/commit-lock"
      }
    let tree = mounted.tree
    tree.start()
    try blocking(folder) {
      // Not before: the thread may get there first.
      if work == "audit" {
        mounted.vault.audit.note(.read, member: member)
        clock.advance(to: 1_000_000_100_000)
      }
      if work == "commit" {
        // A folder where a file should be; `blocking` has put a file there, which is as good as the lock itself.
        #expect(unlink(folder) == 0 && mkdir(folder, 0o700) == 0)
        try tree.write("Emma/note", "changed")
      }
      #expect(waitFor("\(work) failed "), "\(memory.all)")
      usleep(300_000)
      if work == "commit" {
        let file = { open(folder, O_CREAT | O_WRONLY | O_EXCL, 0o600) }
        #expect(rmdir(folder) == 0 && close(file()) == 0)
      }
    }
    #expect(waitFor("\(work) works again count="), "\(memory.all)")
    try tree.stop()
    let told = memory.all.filter { $0.hasPrefix("\(work) failed ") }
    #expect(told.count == 1, "\(memory.all)")
    #expect(memory.all.allSatisfy { !$0.contains("Emma") && !$0.contains("note") })
  }

  @Test func whereNothingFailsNothingIsSaid() throws {
    let tree = mounted.tree
    tree.start()
    try tree.write("Emma/more", "text")
    usleep(500_000)
    try tree.stop()
    #expect(memory.all.isEmpty)
  }
}
