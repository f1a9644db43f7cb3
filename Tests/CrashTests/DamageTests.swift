import Glibc
import SystemPackage
import TestSupport
import Testing

/// Files of the vault folder are lost, cut short, altered, exchanged or replaced by older ones.
@Suite(.enabled(if: Machine.canMount), .timeLimit(.minutes(60)))
struct DamageTests {
  enum Damage: String, CaseIterable, Sendable {
    case missing, truncated, bitFlipped, exchanged
  }

  /// The second of three chunks of a scan is hit, another file beside it is not.
  @Test(arguments: Damage.allCases)
  func damageIsConfinedNamedAndLogged(damage: Damage) throws {
    let vault = try CrashVault()
    try vault.mount()
    let folder = vault.emma.appending("Scans")
    let chunkByteCount = 1 << 20
    try run("mkdir", [folder.string])
    // One write after the other, so that the chunks can be told apart by when they came.
    var chunks: [FilePath] = []
    let scan = folder.appending("scan.dcm").string
    for number in 0..<3 {
      try run(
        "python3",
        [
          "-c",
          """
          import os, random, sys
          handle = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
          os.write(handle, random.Random(\(number)).randbytes(\(chunkByteCount)))
          os.fsync(handle)
          """, scan,
        ])
      let known = Set(chunks)
      chunks += try chunkFiles(of: vault).filter { !known.contains($0) }
    }
    try #require(chunks.count == 3)
    try run("cp", ["/etc/passwd", folder.appending("other").string])
    try vault.unmount()

    try hit(chunks[1], with: damage, other: chunks[2])
    let check = try vault.attempt(["check", "--read-data", "--json"])
    #expect(check.status == 1, "\(check.errors)")
    for word in ["Emma", "Scans", "scan.dcm", chunks[1].lastComponent?.string ?? "?"] {
      #expect(check.output.contains(word), "\(word) is not in \(check.output)")
    }

    try vault.mount()
    #expect(try read(scan, at: 0) == 0)
    #expect(try read(scan, at: chunkByteCount + 5 * 4096) == EIO)
    if damage != .exchanged { #expect(try read(scan, at: 2 * chunkByteCount) == 0) }
    if damage == .bitFlipped { #expect(try read(scan, at: chunkByteCount) == 0) }
    try run("cmp", ["/etc/passwd", folder.appending("other").string])
    // The rest can be written, also beside what is damaged.
    try run("sh", ["-c", "echo new > '\(folder)/new' && sync '\(folder)/new'"])
    try vault.unmount()
    let audit = try vault.attempt(["audit"])
    #expect(audit.output.contains("damage"), "\(audit.output) \(audit.errors)")
  }

  /// A folder's list of files stands in several objects; one of them is lost.
  @Test func aDamagedListShowsTheRestAndIsMended() throws {
    let vault = try CrashVault()
    try vault.mount()
    let folder = vault.emma.appending("Disc")
    try run("mkdir", [folder.string])
    let fill = "cd '\(folder)' && for i in $(seq 100); do echo $i > $i.txt; done"
    try run("sh", ["-c", fill])
    try vault.unmount()
    // Lists of before would be taken for those of now.
    try vault.kinvault(["collect", "--keep-days", "0", "--yes", "--vault", vault.vault.string])
    let page = try largestPage(of: vault)
    try run("mv", [page.string, vault.outside.appending("page").string])
    let check = try vault.attempt(["check"])
    #expect(check.status == 1)
    #expect(check.output.contains(page.lastComponent?.string ?? "?"), "\(check.output)")

    try vault.mount()
    let listing = try CommandRunner.run("ls", [folder.string])
    #expect(listing.status == 2)
    #expect(listing.errors.contains("Input/output error"), "\(listing.errors)")
    let names = Set(listing.output.split(separator: "\n").map(String.init))
    #expect(names.count > 70 && names.count < 100)
    for number in 1...100 {
      let name = "\(number).txt"
      let read = try CommandRunner.run("cat", [folder.appending(name).string])
      #expect(read.output == (names.contains(name) ? "\(number)\n" : ""))
      #expect(read.status == (names.contains(name) ? 0 : 1))
    }
    let removal = try CommandRunner.run("rm", ["-r", folder.string])
    #expect(removal.errors.contains("Input/output error"), "\(removal.errors)")
    try vault.unmount()

    let repair = try vault.attempt(["check", "--repair"]).output
    #expect(repair.contains("\(names.count) files stayed"), "\(repair)")
    try vault.mount()
    let left = try run("ls", [folder.string]).split(separator: "\n").map(String.init)
    #expect(Set(left) == names)
    try run("sh", ["-c", fill])
    #expect(try run("ls", [folder.string]).split(separator: "\n").count == 100)
    try vault.unmount()
  }

  private func largestPage(of vault: CrashVault) throws -> FilePath {
    let path = try run(
      "python3",
      [
        "-c",
        """
        import os, sys
        pages = []
        for folder, _, names in os.walk(sys.argv[1]):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    header = file.read(16)
                if header[:4] == b"KVOB" and header[5] == 3:
                    pages.append((os.path.getsize(path), path))
        print(max(pages)[1], end="")
        """, vault.vault.appending("members").string,
      ])
    return FilePath(path)
  }

  /// Reads a page; returns the errno.
  private func read(_ path: String, at offset: Int) throws -> Int32 {
    let result = try CommandRunner.run(
      "python3",
      [
        "-c",
        """
        import os, sys
        try:
            os.pread(os.open(sys.argv[1], os.O_RDONLY), 4096, \(offset))
        except OSError as error:
            sys.exit(error.errno)
        """, path,
      ])
    return result.status ?? -1
  }

  private func chunkFiles(of vault: CrashVault) throws -> [FilePath] {
    try run("find", [vault.vault.appending("members").string, "-size", "+1000k", "-type", "f"])
      .split(separator: "\n").map { FilePath(String($0)) }
  }

  private func hit(_ file: FilePath, with damage: Damage, other: FilePath) throws {
    switch damage {
    case .missing: try run("rm", [file.string])
    case .truncated: try run("truncate", ["-s", "70000", file.string])
    case .bitFlipped:
      // In the sixth block of 4 KiB, each with a tag of 16 bytes, after the header.
      try run(
        "python3",
        [
          "-c",
          """
          import sys
          with open(sys.argv[1], "r+b") as file:
              file.seek(16 + 5 * 4112 + 99)
              byte = file.read(1)[0]
              file.seek(-1, 1)
              file.write(bytes([byte ^ 4]))
          """, file.string,
        ])
    case .exchanged:
      let aside = file.string + ".aside"
      try run("mv", [file.string, aside])
      try run("mv", [other.string, file.string])
      try run("mv", [aside, other.string])
    }
  }

  // MARK: The whole folder

  @Test func anOlderFolderIsRecognisedAndConfirmedOnce() throws {
    let vault = try CrashVault()
    let backup = vault.outside.appending("backup").string
    try write("one", to: vault)
    try run("cp", ["-a", vault.vault.string, backup])
    try write("two", to: vault)
    try write("three", to: vault)
    try run("rm", ["-rf", vault.vault.string])
    try run("cp", ["-a", backup, vault.vault.string])

    let refused = try vault.attempt(["mount", vault.mountpoint.string])
    #expect(refused.status != 0)
    #expect(refused.errors.contains("older"), "\(refused.errors)")
    #expect(refused.errors.contains("--accept-rollback"), "\(refused.errors)")
    try vault.mount(options: ["--accept-rollback"])
    try vault.unmount()
    // Asked for once; from here on it goes on as any vault.
    try write("four", to: vault)
    try vault.mount()
    let names = try run("ls", [vault.emma.string]).split(separator: "\n").map(String.init)
    #expect(names.sorted() == ["four", "one"])
    try vault.unmount()
    try vault.checkIsClean()
    // The copy that was put back knows nothing of it: were a counter used twice, this would be a fork.
    try run("rm", ["-rf", backup])
  }

  private func write(_ name: String, to vault: CrashVault) throws {
    try vault.mount()
    try run("sh", ["-c", "echo \(name) > '\(vault.emma)/\(name)'"])
    try vault.unmount()
  }

  @Test(.enabled(if: Machine.canMountDisks))
  func aFolderThatCannotBeWrittenIsReadable() throws {
    let vault = try CrashVault()
    try write("one", to: vault)
    let mirror = vault.outside.appending("mirror")
    try run("mkdir", [mirror.string])
    try run("mount", ["--bind", vault.vault.string, mirror.string])
    defer { _ = try? CommandRunner.run("umount", ["-l", mirror.string]) }
    try run("mount", ["-o", "remount,bind,ro", mirror.string])
    let place = vault.outside.appending("read only")
    defer { _ = try? CommandRunner.run("umount", ["-l", place.string]) }
    let refused = try CommandRunner.run(
      CrashVault.binary, ["mount", place.string, "--vault", mirror.string],
      environment: vault.environment)
    #expect(refused.status != 0)
    #expect(refused.errors.contains("--read-only"), "\(refused.errors)")
    let mount = try vault.start(at: place, vault: mirror, options: ["--read-only"])
    #expect(try run("cat", [place.appending("Emma/one").string]) == "one\n")
    let written = try CommandRunner.run("touch", [place.appending("Emma/two").string])
    #expect(written.errors.contains("Read-only file system"), "\(written.errors)")
    try vault.kinvault(["unmount", place.string])
    #expect(mount.wait().status == 0)
    let check = try CommandRunner.run(
      CrashVault.binary, ["check", "--vault", mirror.string], environment: vault.environment)
    #expect(check.status == 0, "\(check.output) \(check.errors)")
  }
}
