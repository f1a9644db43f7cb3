import Glibc
import Places
import SystemPackage
import Testing

/// Two mounts of two devices that meet at SeaweedFS, used at once by real programs, while one mount and the store are killed.
@Suite struct TwoMountsTests {
  @Test func nothingOfWhatProgramsWroteIsLost() throws {
    let server = try ObjectServer()
    let desk = try MountedVault(members: ["Emma"], environment: server.environment)
    defer { #expect(throws: Never.self) { try desk.unmount() } }
    let address = server.address("vault")
    try desk.member.appending("shared").makeDirectory()
    try desk.member.appending("shared/note.txt").write("at first\n")
    try desk.syncWith(address)
    let laptop = try MountedVault(cloning: address, of: desk)
    defer { #expect(throws: Never.self) { try laptop.unmount() } }
    let sample = try TestFolder.shared.fresh("sample")
    try Trees.makeSample(in: sample)

    // Both at once.
    let atDesk = try script(
      """
      cp -a "$1" copied
      sqlite3 visits.db 'create table visit (n integer); pragma journal_mode=wal;' >sqlite.log
      for n in 1 2 3 4 5 6 7 8; do sqlite3 visits.db "insert into visit values ($n)"; sleep 0.2; done
      git init -q repo && cd repo && git config user.email a@example.org && git config user.name A
      for n in 1 2 3 4 5; do echo $n >>list; git add list; git commit -qm $n; done
      """, in: desk, sample)
    let atLaptop = try script(
      """
      rsync -a "$1/" synced/
      for n in 1 2 3 4 5 6; do
        echo "laptop $n" >shared/.note.swp; sync shared/.note.swp; mv shared/.note.swp shared/letter.txt; sleep 0.2
      done
      """, in: laptop, sample)
    usleep(1_500_000)
    server.kill()
    usleep(1_000_000)
    try server.start()
    #expect(try Command.wait(for: atDesk) == 0)
    #expect(try Command.wait(for: atLaptop) == 0)
    try server.waitUntilReady()
    // One file on both sides, without either knowing of the other.
    try desk.member.appending("shared/note.txt").write("by desk\n")
    try laptop.member.appending("shared/note.txt").write("by laptop\n")
    for vault in [desk, laptop] {
      try Command(["sync", vault.member.appending("shared/note.txt").string]).succeed()
    }
    try laptop.killMount()
    try laptop.mount()
    // What was not on disk when it was killed is written again, as a person would.
    try Command([
      "rsync", "-a", sample.string + "/", laptop.member.appending("synced").string + "/",
    ])
    .succeed()

    for vault in [desk, laptop] { #expect(try vault.unmount() == 0) }
    for _ in 0..<3 {
      for vault in [desk, laptop] { try vault.kinvault(["sync", "--vault", vault.vault.string]) }
    }
    for vault in [desk, laptop] {
      try vault.kinvault(["check", "--read-data", "--vault", vault.vault.string])
      try vault.mount()
      try expectEverything(in: vault.member, sample)
    }
    #expect(try Trees.digests(of: desk.member) == Trees.digests(of: laptop.member))
  }

  /// Runs a shell script in the member's folder, at the same time as what follows.
  private func script(
    _ text: String, in vault: MountedVault, _ sample: FilePath
  ) throws -> pid_t {
    let null = try Errno.check(Glibc.open("/dev/null", O_RDWR | O_CLOEXEC))
    defer { close(null) }
    return try Command(["sh", "-ec", text, "sh", sample.string], in: vault.member)
      .spawn(input: null, output: 2, errors: 2)
  }

  private func expectEverything(in member: FilePath, _ sample: FilePath) throws {
    let wanted = try Trees.digests(of: sample)
    #expect(try Trees.digests(of: member.appending("copied")) == wanted)
    #expect(try Trees.digests(of: member.appending("synced")) == wanted)
    let rows = try Command(
      ["sqlite3", "visits.db", "pragma integrity_check; select count(*), sum(n) from visit;"],
      in: member
    ).succeed()
    #expect(rows == "ok\n8|36\n")
    try Command(["git", "fsck", "--strict"], in: member.appending("repo")).succeed()
    let log = try Command(["git", "log", "--format=%s"], in: member.appending("repo")).succeed()
    #expect(log == "5\n4\n3\n2\n1\n")
    #expect(try OpenFile(member.appending("shared/letter.txt"), O_RDONLY).text() == "laptop 6\n")
    let notes = try Command(
      ["sh", "-c", "cat shared/note.txt 'Offline Sync Conflicts'/*/note.txt"], in: member
    ).succeed()
    // The version before is there as well if one side had changed the record often.
    #expect(Set(notes.split(separator: "\n")).isSuperset(of: ["by desk", "by laptop"]))
  }
}
