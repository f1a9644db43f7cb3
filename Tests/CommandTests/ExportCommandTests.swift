import Glibc
import TestSupport
import Testing

/// An export that does not come to its end.
@Suite(.enabled(if: geteuid() == 0, "NOT TESTED: only root may mount a small disk"))
struct ExportCommandTests {
  @Test func whatAFullDiskHasOfACopyIsNamed() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let disk = program.folder.appending("a disk").string
    try #require(mkdir(disk, 0o700) == 0)
    let mounted = try CommandRunner.run(
      "mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "kinvault-test", disk])
    try #require(mounted.status == 0, "\(mounted.errors)")
    defer { _ = try? CommandRunner.run("umount", ["-l", disk]) }
    let out = "\(disk)/out"
    let failed = try program.run("export", "Emma", out, "--yes", expecting: 7).errors
    #expect(failed.contains("No space left on device"), "\(failed)")
    #expect(failed.contains("What was is in \(out), not encrypted."), "\(failed)")
    #expect(access(out, F_OK) == 0)
    // What it says to do is enough, once there is room.
    let command = try #require(failed.firstRange(of: "rm -r "), "\(failed)")
    let removed = try CommandRunner.run("sh", ["-c", String(failed[command.lowerBound...])])
    #expect(removed.status == 0 && access(out, F_OK) != 0, "\(removed.errors)")
    let larger = try CommandRunner.run("mount", ["-o", "remount,size=64m", disk])
    try #require(larger.status == 0, "\(larger.errors)")
    try program.run("export", "Emma", out, "--yes", expecting: 0)
    // Where nothing was written nothing is said to be there.
    let again = try program.run("export", "Emma", out, "--yes", expecting: 11).errors
    #expect(!again.contains("not encrypted"), "\(again)")
  }
}
