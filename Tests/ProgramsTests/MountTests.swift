import Glibc
import Places
import SystemPackage
import Testing

/// What only a mounted vault has: it goes away and comes back, and is ciphertext meanwhile.
@Suite struct MountTests {
  @Test func bringsEverythingBackAfterRemounting() throws {
    let sample = try TestFolder.shared.fresh("sample")
    try Trees.makeSample(in: sample)
    try withVault { vault in
      let copy = vault.member.appending("copy")
      try Command(["cp", "-a", sample.string, copy.string]).succeed()
      try Trees.expectSame(copy, sample)
      for _ in 0..<2 {
        #expect(try vault.unmount() == 0)
        try vault.mount()
        try Trees.expectSame(copy, sample)
      }
      try vault.unmount()
      try vault.kinvault(["check", "--vault", vault.vault.string, "--read-data"])
    }
  }

  @Test func cannotBeWrittenToWhenNotMounted() throws {
    try withVault { vault in
      try vault.unmount()
      #expect(throws: (any Error).self) {
        try vault.mountpoint.appending("file").write("plaintext")
      }
      #expect(throws: (any Error).self) { try vault.member.appending("file").write("plaintext") }
    }
  }

  @Test func keepsNamesAndContentsOutOfTheVaultFolder() throws {
    try withVault { vault in
      let words = "Zwölftonmusik-Unverwechselbar"
      try vault.member.appending(words).makeDirectory()
      try vault.member.appending(words).appending(words + ".txt").write(words)
      try vault.unmount()
      for folder in [
        vault.vault.string, vault.vault.removingLastComponent().appending("state").string,
      ] {
        let found = try Command(["grep", "-rlaF", words, folder]).run()
        #expect(found.status == 1, "\(found.output)")
        let names = try Command(["find", folder, "-name", "*Unverwechselbar*"]).succeed()
        #expect(names == "")
      }
    }
  }

  @Test func aCopyMadeWithRsyncOpens() throws {
    try withVault { vault in
      try vault.member.appending("note.txt").write("in the backup")
      try vault.unmount()
      let backup = vault.vault.removingLastComponent().appending("Backup")
      let rsync = Command(["rsync", "-a", "-i", vault.vault.string + "/", backup.string + "/"])
      try rsync.succeed()
      #expect(try rsync.succeed() == "")
      let mountpoint = backup.removingLastComponent().appending("from-backup")
      try vault.kinvault(["mount", mountpoint.string, "--vault", backup.string, "--read-only"])
      defer { #expect(throws: Never.self) { try vault.kinvault(["unmount", mountpoint.string]) } }
      #expect(try mountpoint.appending("Emma").appending("note.txt").text() == "in the backup")
      #expect(throws: Errno.readOnlyFileSystem) {
        try mountpoint.appending("Emma").appending("new").write("x")
      }
    }
  }

  /// What was fsynced is there after kill -9; everything else is whole or absent.
  @Test func keepsWhatWasSyncedThroughAKill() throws {
    try withVault { vault in
      let big = SeededRandom.bytes(3_000_000)
      let file = try OpenFile.create(vault.member.appending("synced"))
      try file.append(big)
      try file.sync()
      for number in 0..<20 {
        let path = vault.member.appending("saved")
        let temporary = vault.member.appending("temporary")
        let file = try OpenFile.create(temporary)
        try file.write("version \(number)")
        try file.sync()
        try temporary.rename(to: path)
      }
      try OpenFile(vault.member, O_RDONLY).sync()
      try vault.member.appending("not synced").write("perhaps")
      try vault.killMount()
      try vault.kinvault(["check", "--vault", vault.vault.string, "--read-data"])
      try vault.mount()
      expectSame(try vault.member.appending("synced").contents(), big)
      #expect(try vault.member.appending("saved").text() == "version 19")
      #expect(!vault.member.appending("temporary").exists)
    }
  }

  /// What was saved again and again within a minute goes by itself, while the mount is used and without a command; with
  /// `--keep all` it stays, and every version can be had.
  @Test func aMountThinsByItselfWhatItIsNotToKeep() throws {
    try withVault { vault in
      let path = vault.member.appending("note.txt")
      func saveAgainAndAgain() throws {
        for number in 0..<100 {
          let file = try OpenFile(path, O_CREAT | O_WRONLY | O_TRUNC, 0o600)
          try file.append(SeededRandom.bytes(100_000, seed: UInt64(number)))
          try file.sync()
        }
      }
      func objectCount() throws -> Int {
        try Command(["find", vault.vault.string, "-type", "f"]).succeed().split(separator: "\n")
          .count
      }
      // While a program reads the vault nothing goes, however long a slow disk takes to save it all.
      let state = try #require(vault.environment["XDG_STATE_HOME"])
      let mark = try Command(["find", state, "-name", "reading-lock"]).succeed()
      let reader = try OpenFile(FilePath(String(mark.dropLast())), O_RDWR)
      try Errno.check(flock(reader.descriptor, LOCK_SH))
      try saveAgainAndAgain()
      #expect(try objectCount() > 100)
      try Errno.check(flock(reader.descriptor, LOCK_UN))
      try eventually { try objectCount() < 60 }
      expectSame(try path.contents(), SeededRandom.bytes(100_000, seed: 99))
      try vault.unmount()
      try vault.kinvault(["check", "--vault", vault.vault.string, "--read-data"])

      try vault.mount("--keep", "all")
      let before = try objectCount()
      try saveAgainAndAgain()
      // Two of its looks.
      usleep(25_000_000)
      #expect(try objectCount() >= before + 99)
      try vault.unmount()
      #expect(try objectCount() >= before + 99)
    }
  }

  @Test func showsWhatACommandCommits() throws {
    try withVault { vault in
      let scan = try TestFolder.shared.fresh("scan").appending("card.jpg")
      try scan.write(SeededRandom.bytes(1_500_000))
      #expect(try vault.member.names() == [])
      try vault.kinvault([
        "record", "add", "--vault", vault.vault.string, "--member", "Emma", "--type", "vaccine",
        "--title",
        "2025-01-20 COVID-19", "--date", "2025-01-20", "--field", "lot=AB123", "--attach",
        scan.string,
      ])
      // Within a second; a busy machine gets longer.
      let find = Command(["find", vault.member.string, "-type", "f"])
      try eventually { try find.succeed().contains("card.jpg") }
      let found = try find.succeed()
      #expect(found.contains("2025-01-20 COVID-19/record.md"))
      let card = found.split(separator: "\n").first { $0.hasSuffix("card.jpg") }
      expectSame(try FilePath(String(#require(card))).contents(), try scan.contents())

      try vault.kinvault(["member", "add", "Liam", "--vault", vault.vault.string])
      try eventually { try vault.mountpoint.textNames() == ["Emma", "Liam"] }
    }
  }

  @Test func aCommandFindsWhatWasSavedJustBefore() throws {
    try withVault { vault in
      let folder = vault.vault.removingLastComponent()
      let stick = folder.appending("stick")
      try stick.makeDirectory()
      let here = ["--vault", vault.vault.string]
      try vault.kinvault(["remote", "add", "stick", stick.string] + here)
      let visit = vault.member.appending("Visit")
      try visit.makeDirectory()
      for number in 1...5 {
        try visit.appending("note.txt").write("text \(number)")
        try vault.kinvault(["sync", "stick"] + here)
        let out = folder.appending("out-\(number)")
        try vault.kinvault(
          ["export", "Emma/Visit", out.string, "--yes", "--vault", stick.string])
        #expect(try out.appending("note.txt").text() == "text \(number)")
      }
      try visit.appending("note.txt").write("exported at once")
      let out = folder.appending("out")
      try vault.kinvault(["export", "Emma/Visit", out.string, "--yes"] + here)
      #expect(try out.appending("note.txt").text() == "exported at once")
    }
  }

  /// Waits until the condition holds; it is an issue if it does not within two minutes.
  private func eventually(_ condition: () throws -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while ContinuousClock.now < deadline {
      if try condition() { return }
      usleep(50_000)
    }
    #expect(try condition())
  }

  @Test func endsCleanlyOnASignal() throws {
    try withVault { vault in
      try vault.member.appending("note").write("committed at the end")
      kill(try #require(vault.processID), SIGTERM)
      #expect(try vault.end() == 0)
      try vault.mount()
      #expect(try vault.member.appending("note").text() == "committed at the end")
    }
  }

  /// Editing a note costs little, whatever hangs on the record.
  @Test func anEditWritesLittle() throws {
    try withVault { vault in
      let record = vault.member.appending("Imaging")
      try record.makeDirectory()
      for number in 0..<10 {
        try record.appending("scan \(number)").write(
          SeededRandom.bytes(2_500_000, seed: UInt64(number)))
      }
      let note = record.appending("record.md")
      try note.write("---\ntype: imaging\n---\n")
      try OpenFile(note, O_RDONLY).sync()
      let before = try bytes(in: vault.vault)
      for number in 0..<20 {
        let file = try OpenFile(note, O_WRONLY | O_APPEND)
        try file.write("line \(number)\n")
        try file.sync()
      }
      let written = try bytes(in: vault.vault) - before
      #expect(written / 20 <= 2048, "\(written / 20) bytes an edit")
    }
  }

  @Test func aCopyCostsNoData() throws {
    try withVault { vault in
      let scan = vault.member.appending("scan")
      try scan.write(SeededRandom.bytes(8_000_000))
      try OpenFile(scan, O_RDONLY).sync()
      let before = try bytes(in: vault.vault)
      let staged = try files(in: vault.vault.appending("staging"))
      try Command(["cp", "scan", "copied by a program"], in: vault.member).succeed()
      try Command(["cp", "--reflink=never", "scan", "copied again"], in: vault.member).succeed()
      try OpenFile(vault.member.appending("copied again"), O_RDONLY).sync()
      #expect(try bytes(in: vault.vault) - before < 100_000)
      #expect(try files(in: vault.vault.appending("staging")) == staged, "nothing stays staged")
      try Command(["cmp", "scan", "copied by a program"], in: vault.member).succeed()
    }
  }

  /// The bytes of all files, those with several names once.
  private func bytes(in folder: FilePath) throws -> Int {
    let lines = try Command(["find", folder.string, "-type", "f", "-printf", "%i %s\\n"]).succeed()
    return Set(lines.split(separator: "\n")).compactMap { Int($0.split(separator: " ")[1]) }.reduce(
      0, +)
  }

  private func files(in folder: FilePath) throws -> Int {
    try Command(["find", folder.string, "-type", "f"]).succeed().split(separator: "\n").count
  }

  /// A vault of its own for a test that unmounts it.
  private func withVault(_ body: (MountedVault) throws -> Void) throws {
    let vault = try MountedVault(members: ["Emma"])
    defer {
      #expect(throws: Never.self) { try vault.unmount() }
    }
    try body(vault)
  }
}
