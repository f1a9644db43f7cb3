import Glibc
import SystemPackage
import TestSupport
import Testing

/// A small disk fills up under the vault.
@Suite(.enabled(if: Machine.canMountDisks), .timeLimit(.minutes(60)))
struct FullDiskTests {
  /// Nothing of what a mount took can be saved: that is said, and nothing is lost by unmounting.
  @Test func aMountThatCannotSaveSaysSoAndStays() throws {
    let disk = try LoopDisk(megabytes: 32)
    let vault = try CrashVault(on: disk.root)
    try vault.mount()
    try run("sh", ["-c", "echo before > '\(vault.emma)/before'; sync '\(vault.emma)/before'"])
    let filler = disk.root.appending("filler")
    try run("sh", ["-c", "head -c 64M /dev/zero > '\(filler)'; sync '\(filler)'; true"])
    // The first may be taken before the disk is looked at.
    var taken: [String] = []
    for number in 0..<12_000 {
      if mkdir(vault.emma.appending("folder \(number)").string, 0o755) != 0 { break }
      taken.append("folder \(number)")
      usleep(10_000)
    }
    #expect(errno == ENOSPC)
    for arguments in [["unmount", vault.mountpoint.string], ["lock", "--unmount"]] {
      let result = try CommandRunner.run(
        CrashVault.binary,
        arguments + (arguments[0] == "lock" ? ["--vault", vault.vault.string] : []),
        environment: vault.environment)
      #expect(result.status != 0)
      #expect(result.errors.contains("still mounted"), "\(result.errors)")
      #expect(!result.output.contains("Unmounted"), "\(result.output)")
    }
    // Nothing of the vault can go: it does not send anybody to itself.
    let collected = try vault.attempt(["collect", "--keep-days", "0", "--yes"])
    #expect(collected.status == 7)
    #expect(collected.errors.contains("other files on that disk"), "\(collected.errors)")
    #expect(!collected.errors.contains("kinvault collect"), "\(collected.errors)")
    let reports = try run(
      "find",
      ["\(disk.root)/state/kinvault", "-path", "*/mounts/*", "-type", "f"]
        + ["-exec", "cat", "{}", "+"])
    #expect(reports.contains("unsaved \(ENOSPC) "), "\(reports)")
    #expect(try status(of: vault).contains(" failed "))
    #expect(try status(of: vault).contains("there is no room on the disk. Make some"))
    let shown = try run("ls", [vault.emma.string]).split(separator: "\n").map(String.init)
    #expect(Set(shown) == Set(taken + ["before"]))

    try run("rm", [filler.string])
    var isFree = false
    for _ in 0..<12_000 where !isFree {
      isFree = mkdir(vault.emma.appending("after").string, 0o755) == 0
      usleep(10_000)
    }
    #expect(isFree)
    try vault.unmount()
    try vault.mount()
    let kept = try run("ls", [vault.emma.string]).split(separator: "\n").map(String.init)
    #expect(Set(kept) == Set(taken + ["before", "after"]))
    #expect(try !status(of: vault).contains("Saving changes in the vault failed"))
    try vault.unmount()
    try vault.checkIsClean()
  }

  /// The last of a disk is kept for commits. No file gets it, and the mount does not say that one would.
  @Test func whatNoFileGetsIsNotSaidToBeFree() throws {
    let disk = try LoopDisk(megabytes: 32)
    let vault = try CrashVault(on: disk.root)
    try vault.mount()
    func free(_ path: FilePath) throws -> UInt64 {
      var space = statvfs()
      #expect(statvfs(path.string, &space) == 0)
      return UInt64(space.f_bavail) * UInt64(space.f_frsize)
    }
    let (here, inMount) = (try free(disk.root), try free(vault.emma))
    #expect(inMount > 0 && inMount < here)
    let filler = disk.root.appending("filler")
    try run("sh", ["-c", "head -c \(here - 600_000) /dev/zero > '\(filler)'; sync '\(filler)'"])
    #expect(try free(disk.root) > 0)
    #expect(try free(vault.emma) == 0)
    // It is told where it is closed, as on any disk that is written to later.
    let copied = try CommandRunner.run(
      "cp", ["/etc/hostname", vault.emma.appending("copied").string], environment: [:])
    #expect(copied.status != 0 && copied.errors.contains("No space left"), "\(copied.errors)")
    try run("rm", [filler.string])
    #expect(try free(vault.emma) > 0)
    try run("cp", ["/etc/hostname", vault.emma.appending("copied").string])
    try vault.unmount()
    try vault.checkIsClean()
  }

  /// What was saved can be looked at though not a byte can be written: that it was is not noted then, which is told.
  @Test func whatCannotBeNotedIsShownAllTheSame() throws {
    let vault = try CrashVault()
    try run(
      CrashVault.binary,
      [
        "record", "add", "--member", "Emma", "--title", "Allergy", "--date", "2025-01-20", "--note",
        "Penicillin", "--vault", vault.vault.string,
      ], environment: vault.environment)
    // A disk that has no room for one file more, where what was read is kept until it is in the log.
    let state = try #require(vault.environment["XDG_STATE_HOME"])
    let events = try run("find", [state, "-type", "d", "-name", "events"]).split(separator: "\n")
    let folder = String(try #require(events.first))
    try run("mount", ["-t", "tmpfs", "-o", "nr_inodes=1", "tmpfs", folder])
    defer { _ = try? run("umount", [folder]) }
    let path = "Emma/Notes/2025-01-20 Allergy"
    for arguments in [["record", "show", path], ["search", "penicillin"]] {
      let shown = try vault.attempt(arguments)
      #expect(shown.status == 0 && shown.output.contains("Penicillin"), "\(shown.errors)")
      #expect(shown.errors.contains("The audit log could not be written"), "\(shown.errors)")
    }
  }

  private func status(of vault: CrashVault) throws -> String {
    try CommandRunner.run(
      CrashVault.binary, ["status", "--vault", vault.vault.string], environment: vault.environment
    ).output
  }

  /// What was synced right before a crash, on a disk that has no room for it now: that is said in words, and it is there as
  /// soon as there is room.
  @Test func whatWasSyncedBeforeACrashComesWithTheRoom() throws {
    let disk = try LoopDisk(megabytes: 32)
    let vault = try CrashVault(on: disk.root)
    let filler = disk.root.appending("filler")
    try vault.mount()
    // Unless a commit was in between, it stands beside the vault in this machine's state.
    var told: CommandResult?
    var names: [String] = []
    for round in 0..<5 where told?.errors.contains("not in the vault yet") != true {
      if round > 0 {
        try run("rm", [filler.string])
        try vault.mount()
      }
      try run(
        "sh",
        [
          "-c",
          """
          for n in 1 2 3 4; do
            head -c 60000 /dev/urandom > '\(vault.outside.path)/'"\(round) $n"
            cp '\(vault.outside.path)/'"\(round) $n" '\(vault.emma)/'
            sync '\(vault.emma)/'"\(round) $n"
          done
          head -c 64M /dev/zero > '\(filler)'; sync '\(filler)'; true
          """,
        ])
      names += (1...4).map { "\(round) \($0)" }
      vault.forceUnmount()
      told = try vault.attempt(["record", "list"])
    }
    let errors = try #require(told).errors
    #expect(errors.contains("not in the vault yet: there is no room for it"), "\(errors)")
    #expect(errors.contains("delete other files") && !errors.contains("noSpace("), "\(errors)")
    #expect(told?.status == 0)
    try run("rm", [filler.string])
    try vault.mount()
    for name in names {
      try run("cmp", ["\(vault.outside.path)/\(name)", vault.emma.appending(name).string])
    }
    try vault.unmount()
    try vault.checkIsClean()
  }

  @Test func aFullDiskSaysSoAndKeepsWhatWasSynced() throws {
    let disk = try LoopDisk(megabytes: 32)
    let vault = try CrashVault(on: disk.root)
    try vault.mount()
    for seed in 0..<2 {
      let writer = try vault.startWriting(seed: UInt64(seed), command: "fill")
      let result = writer.wait()
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(result.output.hasPrefix("full after"))
      try vault.verify()
      if seed == 1 { break }
      // Full as it is, the vault can be closed and opened again.
      try vault.unmount()
      try vault.mount()
      try vault.verify()
      // Something goes, then there is space again.
      try run("sh", ["-c", "rm '\(vault.emma)/round 0/'*[13579]"])
      try vault.unmount()
      try vault.kinvault([
        "collect", "--keep-days", "0", "--yes", "--vault", vault.vault.string,
      ])
      try vault.mount()
      let count = try run("sh", ["-c", "ls '\(vault.emma)/round 0' | wc -l"])
      #expect(count != "0\n")
      vault.forgetRounds()
    }
    try vault.unmount()
    try vault.checkIsClean()
  }
}
