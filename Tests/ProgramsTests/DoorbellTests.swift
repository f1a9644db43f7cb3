import Glibc
import Places
import SystemPackage
import Testing

/// Two mounted vaults that meet at SeaweedFS and hear a doorbell.
@Suite struct DoorbellTests {
  @Test func whatIsSavedShowsElsewhereWithinSeconds() throws {
    let server = try ObjectServer()
    let doorbell = try DoorbellServer()
    let desk = try MountedVault(members: ["Emma", "Ben"], environment: server.environment)
    defer { #expect(throws: Never.self) { try desk.unmount() } }
    let address = server.address("vault")
    try desk.syncWith(address, "--doorbell", doorbell.address)
    let notices = try FakeNotices()
    let laptop = try MountedVault(
      cloning: address, of: desk, environment: ["PATH": notices.path],
      beforeMounting: ["remote", "doorbell", "origin", doorbell.address])
    defer { #expect(throws: Never.self) { try laptop.unmount() } }
    try wait { try doorbell.events().filter { $0 == "listen 2" }.count >= 2 }

    // Without a doorbell it would be the next look, up to half a minute later, and that comes but once in that time: whatever
    // is written when the last letter has come takes as long, each time. A busy machine is late now and then.
    let soon = Duration.seconds(25)
    let began = ContinuousClock.now
    for (number, member) in ["Emma", "Ben", "Emma"].enumerated() {
      var times: [Duration] = []
      for attempt in 0..<5 where times.allSatisfy({ $0 >= soon }) {
        let letter = FilePath(member).appending("letter \(number) \(attempt).txt").string
        try desk.mountpoint.appending(letter).write("what the doctor says\n")
        let begin = ContinuousClock.now
        try wait { access(laptop.mountpoint.appending(letter).string, F_OK) == 0 }
        times.append(ContinuousClock.now - begin)
      }
      #expect(times.contains { $0 < soon }, "\(member) took \(times)")
    }

    let rings = try doorbell.events().filter { $0.hasPrefix("ring ") }
    #expect(rings.count >= 3)
    let topics = Set(rings.map { $0.split(separator: " ")[1] })
    #expect(topics.count == 2)
    for topic in topics {
      let isPlain = topic.allSatisfy { $0.isHexDigit }
      #expect(topic.count == 40 && isPlain)
    }
    // One notice for all three, and it names nothing. A machine that needs more than five minutes for them gets another.
    try wait { try !notices.lines().isEmpty }
    let minutes = (ContinuousClock.now - began).components.seconds / 60
    #expect(try notices.lines().count <= 1 + minutes / 5)
    #expect(try notices.lines().first?.hasSuffix("Kinvault The family vault has news.") == true)

    // A dead one costs nothing but the time.
    doorbell.kill()
    try desk.mountpoint.appending("Emma/later.txt").write("said without a bell\n")
    try desk.kinvault(["sync", "--vault", desk.vault.string])
    try laptop.kinvault(["sync", "--vault", laptop.vault.string])
    try wait { access(laptop.mountpoint.appending("Emma/later.txt").string, F_OK) == 0 }
  }

  /// Without a doorbell, by a look every half minute, also where the mount was used at its very beginning only; the next
  /// sync would come after five.
  @Test func whatIsSavedShowsElsewhereWithoutADoorbell() throws {
    let server = try ObjectServer()
    let desk = try MountedVault(members: ["Emma"], environment: server.environment)
    defer { #expect(throws: Never.self) { try desk.unmount() } }
    let address = server.address("vault")
    try desk.syncWith(address)
    let laptop = try MountedVault(cloning: address, of: desk)
    defer { #expect(throws: Never.self) { try laptop.unmount() } }
    let letter = laptop.mountpoint.appending("Emma/letter.txt").string
    #expect(access(letter, F_OK) != 0)
    // What the first sync of the mount brings is none of this.
    sleep(5)
    try desk.mountpoint.appending("Emma/letter.txt").write("what the doctor says\n")
    try wait { access(letter, F_OK) == 0 }
  }

  private func wait(seconds: Int = 180, _ isThere: () throws -> Bool) throws {
    for _ in 0..<(20 * seconds) {
      if try isThere() { return }
      usleep(50_000)
    }
    Issue.record("it did not come within \(seconds) seconds")
  }
}

/// A `notify-send` that keeps what it was told.
private struct FakeNotices {
  private let log: FilePath
  /// A search path on which it stands first.
  let path: String

  init() throws {
    let folder = try TestFolder.shared.fresh("notices")
    log = folder.appending("log")
    let program = folder.appending("notify-send")
    try program.write("#!/bin/sh\necho \"$*\" >>'\(log)'\n")
    try Errno.check(chmod(program.string, 0o700))
    try log.write("")
    path = "\(folder):/usr/bin:/bin"
  }

  func lines() throws -> [Substring] {
    try OpenFile(log, O_RDONLY).text().split(separator: "\n")
  }
}
