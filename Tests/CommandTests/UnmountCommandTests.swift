import Glibc
import SystemPackage
import TestSupport
import Testing

/// What this machine's state says of mounts cannot be read.
@Suite struct UnreadMountTests {
  /// A folder stands where the file of a mount should be whose process lives.
  @Test func aMountThatCannotBeToldIsNotPassedOver() throws {
    let program = try Program.withVault()
    let state = program.folder.appending("state/kinvault")
    let found = try CommandRunner.run(
      "find", [state.string, "-maxdepth", "2", "-name", "device", "-printf", "%h"])
    let mounts = FilePath(found.output).appending("mounts").string
    mkdir(mounts, 0o700)
    try #require(mkdir("\(mounts)/1-0", 0o700) == 0)
    let lock = open("\(mounts)/1-0", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(lock) }
    try #require(flock(lock, LOCK_EX) == 0)
    for refused in [
      try program.run("status", expecting: 13),
      try program.run("lock", "--unmount", expecting: 13),
    ] {
      #expect(refused.errors.contains("mounts/1-0"), "\(refused.errors)")
    }
  }
}

/// Unmounting by somebody whom only `fusermount3` can help.
@Suite(
  .enabled(
    if: geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0,
    "NOT TESTED: only root can run the program without one of its privileges")
)
struct UnmountCommandTests {
  private let program: Program
  private let mountpoint: String
  private let helpers: String

  init() throws {
    program = try Program.withVault()
    mountpoint = program.folder.appending("mnt").string
    helpers = program.folder.appending("helpers").string
    try #require(mkdir(helpers, 0o755) == 0)
  }

  /// As a user who may not unmount by themself, where `fusermount3` is this script.
  private func unmount(asking script: String) throws -> CommandResult {
    let helper = "\(helpers)/fusermount3"
    try program.write("#!/bin/sh\n\(script)\n", to: helper)
    try #require(chmod(helper, 0o755) == 0)
    return try CommandRunner.run(
      "setpriv",
      ["--bounding-set", "-sys_admin", "setsid", "-w", Program.executable, "unmount", mountpoint],
      environment: program.environment.merging(["PATH": "\(helpers):/usr/bin:/bin"]) { $1 })
  }

  @Test func whyFusermountLeavesItIsSaid() throws {
    try program.run("mount", mountpoint, expecting: 0)
    defer { _ = try? program.run("unmount", mountpoint) }
    let refused = try unmount(
      asking: "echo 'fusermount3: cannot read /etc/mtab' >&2; echo 'No such file' >&2; exit 1")
    #expect(refused.status != 0)
    #expect(
      refused.errors.contains(
        "is still mounted. What fusermount3 says: fusermount3: cannot read /etc/mtab; No such file"
      ), "\(refused.errors)")
    #expect(!refused.errors.contains("in use"), "\(refused.errors)")
    // What a program has open is named as ever.
    let emma = open("\(mountpoint)/Emma", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    try #require(emma >= 0)
    let busy = try unmount(asking: "echo 'Device or resource busy' >&2; exit 1")
    close(emma)
    #expect(busy.errors.contains("is in use by "), "\(busy.errors)")
    try program.run("unmount", mountpoint, expecting: 0)
  }

  /// Its process does nothing for a while, as where it writes much to a slow disk.
  @Test func whatItWaitsForIsSaidOnceItTakesLonger() throws {
    let mounting = try RunningCommand(
      Program.executable, ["mount", mountpoint, "--foreground"], environment: program.environment)
    defer {
      mounting.signal(SIGTERM)
      _ = mounting.wait()
    }
    while !mounting.errorsSoFar.contains("Mounted at"), !mounting.hasEnded() { usleep(20_000) }
    // What the kernel knows of the top folder it asks nobody for.
    try #require(access(mountpoint, R_OK) == 0)
    mounting.signal(SIGSTOP)
    defer { mounting.signal(SIGCONT) }
    let unmounting = try RunningCommand(
      Program.executable, ["unmount", mountpoint], environment: program.environment)
    for _ in 0..<2400 where unmounting.errorsSoFar.isEmpty && !unmounting.hasEnded() {
      usleep(50_000)
    }
    #expect(unmounting.errorsSoFar.hasPrefix("Waiting until what was changed in \(mountpoint) is"))
    mounting.signal(SIGCONT)
    let told = unmounting.wait()
    #expect(told.status == 0, "\(told.output)\(told.errors)")
    #expect(told.errors.contains("Unmounted "))
  }
}
