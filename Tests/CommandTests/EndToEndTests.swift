import Glibc
import SystemPackage
import TestSupport
import Testing

/// The program as scripts use it, from `init` on.
@Suite struct EndToEndTests {
  private let path = "Emma/Vaccines/2025-01-20 COVID-19"

  @Test(arguments: ["0", "10001", "-5", "a second", "1e3", " 5"])
  func whatIsNoTimeForAPasswordIsRefusedBeforeAnythingIsMade(time: String) throws {
    let program = try Program()
    let refused = try program.run(
      "init", "--vault", program.vault, "--words-out", program.wordsFile, "--yes",
      environment: ["KINVAULT_PASSWORD_TIME": time], expecting: 2)
    #expect(refused.errors.contains("from 1 to 10000"), "\(refused.errors)")
    #expect(access(program.vault, F_OK) != 0 && access(program.wordsFile, F_OK) != 0)
  }

  @Test func aTypeThatIsGivenAsAFieldIsNotLeftOut() throws {
    let program = try Program.withVault()
    let refused = try program.run(
      "record", "add", "--member", "Emma", "--title", "COVID-19", "--field", "type=visit",
      expecting: 2)
    #expect(refused.errors.contains("Say the type with --type"), "\(refused.errors)")
  }

  @Test func initWritesTheWordsOnceAndForTheOwnerOnly() throws {
    let program = try Program.withVault()
    let words = String(decoding: try program.read(program.wordsFile), as: UTF8.self)
    #expect(words.split(separator: "\n").count == 24)
    var status = stat()
    #expect(lstat(program.wordsFile, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let again = try program.run(
      "init", "--vault", program.folder.appending("other").string, "--words-out",
      program.wordsFile, "--yes", expecting: 11)
    #expect(again.errors.contains("never written over"))
    #expect(access(program.folder.appending("other").string, F_OK) != 0)
    try program.run("init", expecting: 11)
    try program.run("init", "--vault", program.folder.path.string, expecting: 10)
  }

  @Test func aRecordIsAddedListedShownChangedAndExported() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let list = try program.run("record", "list", expecting: 0).output
    #expect(
      list == """
        DATE        TYPE     TITLE     PATH
        2025-01-20  vaccine  COVID-19  \(path)

        """)
    let shown = try program.run("record", "show", path, expecting: 0).output
    #expect(shown.contains("lot   AB123") && shown.contains("card.jpg  3.0 MB  image/jpeg"))

    try program.run(
      "record", "edit", path, environment: ["EDITOR": "sed -i s/No/Some/"], expecting: 0)
    #expect(try program.run("record", "show", path).output.contains("Some fever"))
    let history = try program.run("history", path, expecting: 0).output
    #expect(history.contains("note changed") && history.contains("created, +card.jpg"))

    let out = program.folder.appending("out").string
    try program.run("export", "Emma", out, expecting: 10)
    try program.run("export", "Emma", out, "--yes", expecting: 0)
    #expect(try program.read("\(out)/Vaccines/2025-01-20 COVID-19/card.jpg").count == 3_000_000)
    let note = String(
      decoding: try program.read("\(out)/Vaccines/2025-01-20 COVID-19/record.md"), as: UTF8.self)
    #expect(
      note.hasPrefix("---\ntype: vaccine\ndate: 2025-01-20\n") && note.contains("lot: AB123\n"))
    try program.run("export", "Emma", out, "--yes", expecting: 11)
    // Plain files have no place where everything is encrypted, however it is named.
    let inside = try program.run("export", "Emma", "\(program.vault)/out", "--yes", expecting: 10)
    #expect(inside.errors.contains("Name a folder outside of it: kinvault export Emma FOLDER"))
    #expect(access("\(program.vault)/out", F_OK) != 0)

    let audit = try program.run("audit", "--action", "export", expecting: 0).output
    #expect(audit.split(separator: "\n").count == 3)
    let check = try program.run("check", "--read-data", expecting: 0).output
    #expect(check.contains("Everything is whole."))
  }

  /// Edits the record with a script for an editor.
  @discardableResult
  private func edit(
    in program: Program, with script: String, expecting status: Int32 = 0
  ) throws -> CommandResult {
    let editor = program.folder.appending("editor").string
    try program.write(script, to: editor)
    try #require(chmod(editor, 0o700) == 0)
    return try program.run(
      "record", "edit", path, environment: ["EDITOR": editor], expecting: status)
  }

  /// Edits a note in an editor that adds a line, while a shell does something in a mount.
  ///
  /// - Parameter meanwhile: The command, by where the mount is.
  private func edit(
    in program: Program, meanwhile: (_ place: String) -> String
  ) throws -> CommandResult {
    let (kinvault, place) = (try Program.executable, program.folder.appending("mounted").string)
    let script = """
      #!/bin/sh
      set -e
      '\(kinvault)' mount '\(place)' >&2
      \(meanwhile(place))
      '\(kinvault)' unmount '\(place)' >&2
      echo late >> "$1"

      """
    return try edit(in: program, with: script)
  }

  /// An editor leaves files of its own beside the text, whatever they are and are called.
  @Test func nothingOfWhatAnEditorLeavesStays() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let told = program.folder.appending("told").string
    let script = """
      #!/bin/sh
      folder="$(dirname "$1")"
      sed -i s/No/Some/ "$1"
      cp "$1" "$folder/$(printf '\\377bak')"
      mkdir "$folder/more" && cp "$1" "$folder/more/copy" && mkfifo "$folder/more/pipe"
      printf %s "$folder" > '\(told)'

      """
    try edit(in: program, with: script)
    #expect(try program.run("record", "show", path).output.contains("Some fever"))
    let folder = String(decoding: try program.read(told), as: UTF8.self)
    #expect(folder.hasPrefix("/"))
    #expect(access(folder, F_OK) != 0 && errno == ENOENT, "\(folder)")
  }

  /// Vim keeps the whole text in its undo file, which many have put into a folder of its own.
  @Test func nothingStaysOfWhatAnEditorKeepsElsewhere() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let undo = program.folder.appending(".vim/undo").string
    let script = """
      #!/bin/sh
      sed -i s/No/Some/ "$1"
      mkdir -p '\(undo)'
      for name in "$1" /other; do
        kept='\(undo)'/"$(printf %s "$name" | tr / %)"
        printf 'Vim\\237UnDo\\345' > "$kept"
        cat "$1" >> "$kept"
      done

      """
    try edit(in: program, with: script)
    #expect(try CommandRunner.run("ls", [undo]).output == "%other\n")
  }

  /// What was typed and cannot be saved, being too long, is not wiped.
  @Test func aTextThatCannotBeSavedStaysWhereItIsTold() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let script = "#!/bin/sh\nhead -c 17000000 /dev/zero > \"$1\"\n"
    let told = try edit(in: program, with: script, expecting: 2).errors
    let start = try #require(told.firstRange(of: "It is still at "), "\(told)")
    let text = String(told[start.upperBound...].prefix { $0 != " " })
    var status = stat()
    try #require(text.hasSuffix("/record.md"), "\(told)")
    try #require(lstat(text, &status) == 0, "\(told)")
    #expect(status.st_size == 17_000_000)
    #expect(unlink(text) == 0)
    #expect(rmdir(String(text.dropLast("/record.md".count))) == 0)
    #expect(try program.run("record", "show", path).output.contains("No fever"))
  }

  /// Both times somebody else saves the note while it is edited, and both texts are kept, within the same minute as well.
  @Test func twoTextsThatWereLateAreBothKept() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    func write(_ script: String, to name: String) throws -> String {
      let editor = program.folder.appending(name).string
      try program.write("#!/bin/sh\n\(script)\n", to: editor)
      try #require(chmod(editor, 0o700) == 0)
      return editor
    }
    let other = try write("echo meanwhile >> \"$1\"", to: "other")
    let kinvault = try Program.executable
    for text in ["first", "second"] {
      let editor = try write(
        "EDITOR='\(other)' '\(kinvault)' record edit '\(path)' && echo \(text) > \"$1\"", to: text)
      let told = try program.run(
        "record", "edit", path, environment: ["EDITOR": editor], expecting: 0)
      #expect(told.output.contains("kept next to it"), "\(told.output)\(told.errors)")
    }
    let out = program.folder.appending("late").string
    try program.run("export", "Emma", out, "--yes", expecting: 0)
    let texts = try CommandRunner.run(
      "sh", ["-c", "cat \"$0\"/*/*/*'offline conflict'*", out]
    ).output.split(separator: "\n").sorted()
    #expect(texts == ["first", "second"])
  }

  /// Nobody looks for it beside a record that is gone.
  @Test func theTextOfARecordThatWasDeletedMeanwhileIsAConflict() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let told = try edit(in: program) { place in
      "rm -r '\(place)/\(path)'"
    }
    #expect(told.output.contains("deleted meanwhile"), "\(told.output)\(told.errors)")
    #expect(!told.output.contains("next to it"), "\(told.output)")
    let lines = try program.run("conflicts", "list", expecting: 0).output.split(separator: "\n")
    try #require(lines.count > 1, "\(lines)")
    let id = String(lines[1].prefix(8))
    let back = try program.run("conflicts", "resolve", id, "--take-back", expecting: 0).errors
    // The program had deleted the attached file before the record.
    #expect(back.contains("1 file of the record did not come back with it."), "\(back)")
    #expect(back.contains("  kinvault restore '\(path)/card.jpg'\n"), "\(back)")
    try program.run("restore", "\(path)/card.jpg", expecting: 0)
    let out = program.folder.appending("late").string
    try program.run("export", path, out, "--yes", expecting: 0)
    let note = String(decoding: try program.read("\(out)/record.md"), as: UTF8.self)
    #expect(note.hasSuffix("late\n"), "\(note)")
    #expect(try program.read("\(out)/card.jpg").count == 3_000_000)
    // With its type and date, as before.
    let list = try program.run("record", "list", expecting: 0).output
    #expect(list.contains("2025-01-20  vaccine  COVID-19  \(path)\n"), "\(list)")
  }

  @Test func aRecordThatWasRenamedMeanwhileIsSavedUnderItsNewName() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let told = try edit(in: program) { place in
      "mv '\(place)/\(path)' '\(place)/Emma/Vaccines/2025-01-21 Corona'"
    }
    #expect(
      told.output == "Saved Emma/Vaccines/2025-01-21 Corona.\n", "\(told.output)\(told.errors)")
  }

  @Test func recordsAndFoldersAreCountedAlikeWhereverTheyAre() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    // The vaccine, and the folder of its type.
    let all = "2 records and folders"
    let out = program.folder.appending("counted").string
    let exported = try program.run("export", "Emma", out, "--yes", expecting: 0).output
    #expect(exported.contains("Exported \(all) with "), "\(exported)")
    #expect(try program.run("check", expecting: 0).output.contains("Checked 1 member, \(all), "))
    let lines = try program.run("member", "list", expecting: 0).output.split(separator: "\n")
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].contains("RECORDS AND FOLDERS"), "\(lines)")
    #expect(lines[1].split(separator: " ").prefix(2) == ["Emma", "2"], "\(lines)")
    try program.run("unlock", expecting: 0)
    #expect(try program.run("status", expecting: 0).output.contains("1 member, \(all)\n"))
  }

  /// No editor is opened for somebody who may not save what they type.
  @Test func aViewerIsRefusedBeforeTheEditorOpens() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    let told = pair.ben.program.folder.appending("told").string
    let refused = try pair.ben.run(
      "record", "edit", "Emma/Notes/2025-01-20 Visit", environment: ["EDITOR": "touch \(told)"])
    #expect(refused.status != 0 && access(told, F_OK) != 0, "\(refused.output)\(refused.errors)")
  }

  @Test func wrongInputHasItsOwnExitStatus() throws {
    let program = try Program.withVault()
    let wrong = program.folder.appending("wrong").string
    try program.write("wrong", to: wrong)
    try program.run("member", "list", "--password-file", wrong, expecting: 3)
    try program.run("member", "list", "--password-file", "/nonexistent", expecting: 6)
    try program.run("member", "list", "--vault", "/nonexistent", expecting: 6)
    try program.run("member", "add", "Emma", expecting: 11)
    for name in [
      "a/b", " ", "two\nlines", "two\u{2028}lines", "red \u{1b}[31m", "\u{202e}ammE",
    ] {
      try program.run("member", "add", name, expecting: 2)
      try program.run("member", "rename", "Emma", name, expecting: 2)
    }
    let alike = try program.run("record", "list", "--member", "emma", expecting: 6).errors
    #expect(alike.contains("There is \u{201C}Emma\u{201D}."), "\(alike)")
    try program.run("member", "nonsense", expecting: 2)
    try program.run("record", "show", "Emma/Nothing", expecting: 6)
    try program.run(
      "record", "add", "--member", "Emma", "--title", "x", "--date", "2025-13-01", expecting: 2)
    try program.run("unmount", program.folder.path.string, expecting: 6)
  }

  @Test func aLockedVaultAsksAndWithoutTerminalSaysHow() throws {
    let program = try Program.withVault()
    try program.run("lock", expecting: 0)
    let result = try program.run(
      "member", "list", environment: ["KINVAULT_PASSWORD_FILE": nil], expecting: 4)
    #expect(result.errors.contains("--password-file"))
    try program.run(
      "member", "list",
      environment: [
        "KINVAULT_PASSWORD_FILE": nil,
        "KINVAULT_PASSWORD_COMMAND": "cat \(program.passwordFile)",
      ], expecting: 0)
    // One that fails says so itself, and prints nothing.
    let failed = try program.run(
      "member", "list",
      environment: ["KINVAULT_PASSWORD_FILE": nil, "KINVAULT_PASSWORD_COMMAND": "exit 3"],
      expecting: 4)
    #expect(failed.errors.contains("failed (status 3)"))
    try program.run(
      "member", "list", "--password-file", "-", input: "correct horse battery\n", expecting: 0)
  }

  /// What a script has made or brought here is not left open behind it.
  @Test func aPasswordFromAFileUnlocksForOneCommandAlone() throws {
    let program = try Program.withAnotherVault()
    try program.run("status", "--require-unlocked", expecting: 4)
    let usb = program.folder.appending("usb").string
    try program.run("remote", "add", "usb", usb, expecting: 0)
    try program.run("sync", expecting: 0)
    let laptop = Machine("laptop", beside: program)
    try laptop.clone(usb)
    try laptop.run("status", "--require-unlocked", expecting: 4)
    let other = ["XDG_STATE_HOME": program.folder.appending("other-state").string as String?]
    let recovered = try program.run(
      "recover", "--words-file", program.wordsFile, environment: other, expecting: 0)
    #expect(!recovered.output.contains("unlocked"), "\(recovered.output)")
    try program.run("status", "--require-unlocked", environment: other, expecting: 4)
    let command: [String: String?] = [
      "KINVAULT_PASSWORD_FILE": nil, "KINVAULT_PASSWORD_COMMAND": "cat '\(program.passwordFile)'",
      "XDG_STATE_HOME": program.folder.appending("third-state").string,
    ]
    try program.run(
      "recover", "--words-file", program.wordsFile, environment: command, expecting: 0)
    try program.run("status", "--require-unlocked", environment: command, expecting: 4)
  }

  @Test func whatRunsUnattendedKeepsNoVaultUnlocked() throws {
    let program = try Program.withVault()
    try program.run("unlock", "--timeout", "2s", expecting: 0)
    var asked = 0
    // Asked far more often than that, by something that is no use of the vault.
    while try program.run(
      "status", "--require-unlocked", environment: ["KINVAULT_UNATTENDED": "1"]
    ).status == 0, asked < 200 {
      asked += 1
      usleep(300_000)
    }
    #expect(asked < 200)
  }

  @Test func lockAllLocksWhateverThisMachineHasKeysOf() throws {
    let program = try Program.withVault()
    let second = ["KINVAULT_VAULT": program.folder.appending("second").string as String?]
    try program.run(
      "init", "--words-out", program.folder.appending("words 2").string, "--yes",
      environment: second, expecting: 0)
    let place = program.folder.appending("mounted").string
    try program.run("mount", place, environment: second, expecting: 0)
    for vault in [[:], second] {
      try program.run("unlock", environment: vault, expecting: 0)
      try program.run("status", "--require-unlocked", environment: vault, expecting: 0)
    }
    // No vault is named, and none is here.
    let nowhere = ["KINVAULT_VAULT": String?.none]
    let all = try program.run("lock", "--all", environment: nowhere, in: "/", expecting: 0)
    #expect(all.output.contains(place))
    for vault in [[:], second] {
      let status = try program.run(
        "status", "--require-unlocked", environment: vault, expecting: 4)
      #expect(status.output.contains("locked\n"))
    }
    try program.run("lock", "--all", "--unmount", environment: nowhere, in: "/", expecting: 0)
    try program.run("unmount", place, expecting: 6)
    try program.run("lock", "--all", "--vault", program.vault, expecting: 2)
  }

  @Test func theWordsOpenTheVaultOnAnotherMachine() throws {
    let program = try Program.withVault()
    let other = ["XDG_STATE_HOME": program.folder.appending("other-state").string as String?]
    try program.run("member", "list", environment: other, expecting: 6)
    let wrong = program.folder.appending("wrong-words").string
    try program.write(String(repeating: "abandon ", count: 23) + "art", to: wrong)
    try program.run("recover", "--words-file", wrong, environment: other, expecting: 3)
    try program.run("recover", "--words-file", program.wordsFile, environment: other, expecting: 0)
    let members = try program.run("member", "list", "--json", environment: other, expecting: 0)
    #expect(members.output.contains("\"name\" : \"Emma\""))
  }

  @Test func thePasswordChangesForThisMachine() throws {
    let program = try Program.withVault()
    let new = program.folder.appending("new").string
    try program.write("a new password", to: new)
    try program.run("lock")
    try program.run("password", "--new-password-file", new, expecting: 0)
    try program.run("member", "list", expecting: 3)
    try program.run("member", "list", "--password-file", new, expecting: 0)
  }

  @Test func theVaultIsFoundFromAFolderInIt() throws {
    let program = try Program.withVault()
    let none = ["KINVAULT_VAULT": String?.none]
    try program.run(
      "member", "list", environment: none, in: "\(program.vault)/people", expecting: 0)
    try program.run("member", "list", environment: none, in: "/", expecting: 6)
  }

  @Test func checkNamesTheRecordAndTheFileOfDamage() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let objects = try CommandRunner.run(
      "find", ["\(program.vault)/members", "-path", "*/objects/*", "-size", "+900k"])
    let victim = try #require(objects.output.split(separator: "\n").first.map(String.init))
    var bytes = try program.read(victim)
    bytes[5_000] ^= 1
    try program.write(bytes, to: victim)
    try program.run("check", expecting: 0)
    let report = try program.run("check", "--read-data", expecting: 1).output
    #expect(report.contains("\(path)/card.jpg"))
    #expect(report.contains("encrypted file: members/") && report.contains("What to do:"))
    let out = program.folder.appending("out").string
    let export = try program.run("export", "Emma", out, "--yes", expecting: 5)
    #expect(export.errors.contains("card.jpg was left out"))
    #expect(access("\(out)/Vaccines/2025-01-20 COVID-19/record.md", F_OK) == 0)
  }

  /// The process that finds it has no terminal; the one that the person waits for says it.
  @Test func aMountSaysThatSomethingIsWrong() throws {
    let program = try Program.withVault()
    let mountpoint = program.folder.appending("mounted").string
    let whole = try program.run("mount", mountpoint, expecting: 0)
    #expect(!whole.errors.contains("problem"))
    try program.run("unmount", mountpoint, expecting: 0)
    // The head itself this machine has kept, and puts back; what the head names it has nowhere else.
    let objects = try CommandRunner.run(
      "find", [program.vault, "-path", "*/objects/*", "-type", "f"])
    let paths = objects.output.split(separator: "\n").map(String.init)
    try #require(!paths.isEmpty)
    for path in paths { try program.write("garbage", to: path) }
    let damaged = try program.run("mount", mountpoint, expecting: 0)
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(damaged.errors.hasPrefix("kinvault: 1 problem was found in this vault."))
    #expect(damaged.errors.contains("kinvault check") && damaged.errors.contains("Mounted at"))
  }

  /// A power cut or a dying disk has torn it.
  @Test(arguments: ["people", "links/*"])
  func aTornMemoryOfWhatWasSeenSaysWhatToDo(name: String) throws {
    let program = try Program.withVault()
    let state = program.folder.appending("state").string
    let found = try CommandRunner.run("sh", ["-c", "ls -d '\(state)'/kinvault/*/\(name)"])
    let path = String(found.output.dropLast())
    try program.write("torn", to: path)
    let check = try program.run("check")
    #expect(check.status != 0)
    let told = check.output + check.errors
    #expect(told.contains(path) && told.contains("remove it"), "\(told)")
    #expect(!told.contains("\(path) in the vault folder"), "\(told)")
    unlink(path)
    try program.run("check", expecting: 0)
    #expect(try program.run("member", "list", expecting: 0).output.contains("Emma"))
  }

  @Test func aFolderIsAttachedAsItIs() throws {
    let program = try Program.withVault()
    try program.addVaccine()
    let disc = program.folder.appending("disc").string
    mkdir(disc, 0o755)
    mkdir("\(disc)/empty", 0o700)
    mkdir("\(disc)/A", 0o750)
    try program.write("slice", to: "\(disc)/A/1.dcm")
    symlink("1.dcm", "\(disc)/A/first")
    try program.run("attach", path, disc, expecting: 0)
    let out = program.folder.appending("out").string
    try program.run("export", path, out, "--yes", expecting: 0)
    let same = try CommandRunner.run("diff", ["-r", "--no-dereference", disc, "\(out)/disc"])
    #expect(same.status == 0, "\(same.output)")
    var status = stat()
    #expect(lstat("\(out)/disc/A", &status) == 0 && status.st_mode & 0o777 == 0o750)
    try program.run("attach", path, disc, expecting: 11)
    try program.run("attach", path, program.folder.appending("card.jpg").string, expecting: 11)
    try program.run(
      "attach", path, program.folder.appending("card.jpg").string, "--replace", expecting: 0)
  }
}
