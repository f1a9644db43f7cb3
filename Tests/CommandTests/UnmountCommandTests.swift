import Glibc
import SystemPackage
import TestSupport
import Testing

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
}
