import Glibc
import SystemPackage
import TestSupport
import Testing

/// Machines that come and go, and words that are replaced, as a person does it.
@Suite struct DeviceCommandTests {
  private let desk: Machine
  private let tablet: Machine
  private let usb: String

  /// A desk with one note, which has synced with a folder.
  init() throws {
    let program = try Program.withVault()
    desk = Machine(first: program)
    tablet = Machine("tablet", beside: program)
    usb = program.folder.appending("usb").string
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
  }

  @discardableResult
  private func clone(
    to machine: Machine, expecting status: Int32, _ options: String...
  ) throws -> CommandResult {
    try machine.run(["clone", usb, machine.vault, "--name", "usb"] + options, expecting: status)
  }

  /// Approves the tablet from the desk.
  private func addTablet() throws {
    let (asked, approved) = try desk.approve(tablet, called: "tablet", from: usb)
    #expect(asked.errors.contains("This machine asks as "))
    #expect(asked.output.contains("1 member with 2 records and folders in"))
    #expect(approved.output.contains("tablet is a device of yours now."))
  }

  @Test func aMachineIsAddedWithoutTheWordsAndRemovedWithThem() throws {
    try addTablet()
    try tablet.write("two", titled: "From the tablet")
    try tablet.run("member", "add", "Liam", expecting: 0)
    try tablet.run("sync", expecting: 0)
    let new = try desk.run("device", "list", expecting: 0).output
    #expect(new.contains("(yours, not heard of yet)"))
    try desk.run("sync", expecting: 0)
    let listed = try desk.run("device", "list", expecting: 0).output
    #expect(listed.contains("tablet"))

    let own = try tablet.run("device", "revoke", "tablet", "--yes", expecting: 10)
    #expect(own.errors.contains("That is the device that you are sitting at."))
    try desk.run("device", "revoke", "phone", "--yes", expecting: 6)
    let unasked = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, expecting: 10)
    #expect(unasked.errors.contains("Remove tablet, written last 20"))
    // Which stay, since when, and who approved them, stands before the question.
    let shown = unasked.errors.split(separator: "\n").map(String.init)
    let stays = try #require(shown.firstIndex { $0.hasPrefix("STAYS") })
    let question = try #require(shown.firstIndex { $0.contains("Remove tablet") })
    let deeds = try #require(shown.firstIndex { $0.hasPrefix("What tablet did") })
    #expect(shown[(deeds + 1)..<question].contains { $0.hasSuffix("  made the member Liam") })
    let staying = shown[(stays + 1)..<deeds]
    #expect(staying.count == 1 && staying.allSatisfy { $0.contains(" (this one)  20") })
    #expect(staying.allSatisfy { $0.contains("  the 24 words  ") })
    let removed = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 0)
    #expect(removed.output.contains("tablet has been removed.\nEmma has been encrypted anew.\n"))
    #expect(removed.errors.contains("cannot be recalled"))
    #expect(try !desk.run("device", "list", expecting: 0).output.contains("tablet"))
    let records = try desk.run("record", "list", expecting: 0).output
    #expect(records.contains("Visit") && records.contains("From the tablet"))
    let check = try desk.run("check", "--read-data", expecting: 0).output
    #expect(check.contains("Checked 2 members") && check.contains("Everything is whole."))

    try tablet.write("three", titled: "Late")
    let told = try tablet.run("sync", expecting: 8)
    #expect(told.errors.contains("This device has been removed from the vault (20"))
    let closed = try tablet.run("record", "list", expecting: 8)
    #expect(closed.errors.contains("This device has been removed from the vault (20"))
    try desk.run("sync", expecting: 0)
    #expect(try !desk.run("record", "list", expecting: 0).output.contains("Late"))
    try desk.run("check", "--remote", "usb", "--read-data", expecting: 0)
  }

  @Test func twoMachinesAreRemovedAtOnce() throws {
    try addTablet()
    let laptop = Machine("laptop", beside: desk.program)
    try laptop.clone(usb)
    for machine in [tablet, laptop, desk] { try machine.run("sync", expecting: 0) }
    let words = desk.program.wordsFile
    let unasked = try desk.run(
      "device", "revoke", "tablet", "laptop", "--words-file", words, expecting: 10)
    #expect(unasked.errors.contains("Remove tablet, "), "\(unasked.errors)")
    #expect(unasked.errors.contains("; laptop, "), "\(unasked.errors)")
    // Who is named twice is removed once.
    let removed = try desk.run(
      "device", "revoke", "tablet", "laptop", "tablet", "--words-file", words, "--yes",
      expecting: 0)
    #expect(
      removed.output.hasPrefix("tablet has been removed.\nlaptop has been removed.\nEmma has been"),
      "\(removed.output)")
    #expect(removed.errors.contains("What tablet and laptop have copied until now"))
    for machine in [tablet, laptop] { try machine.run("sync", expecting: 8) }
    let listed = try desk.run("device", "list", expecting: 0).output
    #expect(!listed.contains("tablet") && !listed.contains("laptop"), "\(listed)")
  }

  @Test func ofTwoMachinesOfOneNameNoneIsRemovedByIt() throws {
    for name in ["one", "two"] { try Machine(name, beside: desk.program).clone(usb) }
    try desk.run("sync", expecting: 0)
    let refused = try desk.run(
      "device", "revoke", "laptop", "--words-file", desk.program.wordsFile, "--yes", expecting: 2)
    #expect(refused.errors.contains("More than one is called that. Name one by the id: "))
    let listed = try desk.run("device", "list", expecting: 0).output
    #expect(listed.split(separator: "\n").filter { $0.hasPrefix("laptop") }.count == 2, "\(listed)")
  }

  /// A member that the removed machine had made, and the one that removes it has never met, is brought back where it had shown.
  @Test func aMemberThatFellWithItsMachineIsKept() throws {
    try addTablet()
    let laptop = Machine("laptop", beside: desk.program)
    try laptop.clone(usb, "--name", "usb")
    for machine in [desk, tablet] { try machine.run("sync", expecting: 0) }
    let other = desk.program.folder.appending("other").string
    for machine in [tablet, laptop] {
      try machine.run("remote", "add", "other", other, expecting: 0)
    }
    try tablet.run("member", "add", "Liam", expecting: 0)
    try tablet.run("sync", "other", expecting: 0)
    try laptop.run("sync", "other", expecting: 0)
    let words = desk.program.wordsFile
    #expect(
      try laptop.run("member", "keep", expecting: 0).output.contains("There is nothing to keep."))
    try desk.run(
      "device", "revoke", "tablet", "--words-file", words, "--yes", expecting: 0)
    let told = try laptop.run("sync", "usb", expecting: 0)
    #expect(told.output.contains("Liam: it was made on a device"), "\(told.output)")
    let fallen = try laptop.run("member", "list", expecting: 0)
    #expect(!fallen.output.contains("Liam"), "\(fallen.output)")
    #expect(fallen.errors.contains("kinvault member keep"), "\(fallen.errors)")
    let check = try laptop.run("check").output
    #expect(!check.contains("What waits counts by itself"), "\(check)")
    // Another one of its name does not hide it.
    try laptop.run("member", "add", "Liam", expecting: 0)
    let still = try laptop.run("member", "list", expecting: 0).errors
    #expect(still.contains("Liam: it was made on a device"), "\(still)")
    let unwanted = try laptop.run("member", "keep", "Liam", "--no", expecting: 0)
    #expect(unwanted.output.contains("Liam is not named any more"), "\(unwanted.output)")
    // Nobody is sent to the command that they have just given.
    #expect(!unwanted.errors.contains("kinvault member keep"), "\(unwanted.errors)")
    #expect(try !laptop.run("member", "list", expecting: 0).errors.contains("member keep"))
    let listed = try laptop.run("member", "keep", expecting: 0).output
    #expect(listed.contains("Liam") && listed.contains("tablet"), "\(listed)")
    try laptop.run("member", "keep", "Ida", "--words-file", words, "--yes", expecting: 6)
    let asked = try laptop.run("member", "keep", "Liam", "--words-file", words, expecting: 10)
    #expect(asked.errors.contains("Liam was made on tablet"), "\(asked.errors)")
    // As before each change of keys.
    #expect(asked.errors.contains("STAYS") && asked.errors.contains("(this one)"))
    let kept = try laptop.run(
      "member", "keep", "Liam", "--words-file", words, "--yes", expecting: 0)
    #expect(kept.output.contains("Liam counts again, and shows as Liam ("), "\(kept.output)")
    #expect(!kept.errors.contains("could not be synced now"), "\(kept.errors)")
    for machine in [desk, laptop, desk] { try machine.run("sync", "usb", expecting: 0) }
    for machine in [desk, laptop] {
      #expect(try machine.run("member", "list", expecting: 0).output.contains("Liam"))
    }
  }

  /// A machine that was removed and becomes a device again by the words goes on with what stands in it.
  @Test func whatARemovedMachineHadSavedGoesOnWithTheWords() throws {
    try addTablet()
    try desk.run("sync", expecting: 0)
    try tablet.write("two", titled: "Not sent")
    for number in 1...3 { try tablet.write("\(number)", titled: "Beside \(number)") }
    // In the folder of its type, which is new and counted, too.
    try tablet.run(
      "record", "add", "--member", "Emma", "--type", "vaccine", "--title", "COVID-19", "--date",
      "2025-01-20", expecting: 0)
    // A record is counted once, in however many segments it stands.
    try tablet.replace("two", by: "three", in: "Emma/Notes/2025-01-20 Not sent")
    try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 0)
    try tablet.run("sync", expecting: 8)
    let back = try tablet.run(
      "recover", "--words-file", desk.program.wordsFile, "--password-file",
      desk.program.passwordFile, expecting: 0)
    let told = back.errors
    #expect(
      told.contains(
        "of Emma before it lost access, and nobody had got, is taken along: 6 records and folders."),
      "\(told)")
    let lines = told.split(separator: "\n").filter { $0.contains("is taken along") }
    #expect(lines.count == 1, "\(told)")
    try tablet.run("sync", expecting: 0)
    try desk.run("sync", expecting: 0)
    for machine in [desk, tablet] {
      #expect(try machine.run("record", "list", expecting: 0).output.contains("Not sent"))
      let check = try machine.run("check", "--read-data", expecting: 0).output
      #expect(check.contains("Everything is whole."))
    }
  }

  /// A sync that waits for consent has not taken what the device has sent, and nothing takes it afterwards.
  @Test func whatIsLeftOutWithADeviceIsToldWhereASyncIsNotComplete() throws {
    try addTablet()
    try desk.attachMany()
    for machine in [desk, tablet] { try machine.run("sync", expecting: 0) }
    try tablet.removeMany()
    try tablet.run("sync", expecting: 0)
    let removed = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 0)
    #expect(removed.errors.contains("kinvault sync usb --accept-mass-change"), "\(removed.errors)")
    #expect(removed.errors.contains("What that device alone has sent to a remote that could not"))
  }

  /// What this machine remembers of new keys of Emma is of another version of the program: that is Emma's alone.
  private func spoilEpochOfEmma() throws {
    let folder = try CommandRunner.run(
      "sh",
      [
        "-c",
        "set -e; state=$(ls -d \"$1\"/kinvault/*/); mkdir -p -m 700 \"$state/epochs\"; "
          + "file=\"$state/epochs/$(ls \"$2/members\")\"; echo kinvault epoch 9 > \"$file\"; "
          + "sum=$(sha256sum < \"$file\" | cut -c 1-64); echo \"sum $sum\" >> \"$file\"",
        "spoil", desk.state, desk.vault,
      ])
    try #require(folder.status == 0, "\(folder.errors)")
  }

  @Test func keysThatCannotBeChangedEndNoCommand() throws {
    try spoilEpochOfEmma()
    let checked = try desk.run("check", "--repair", expecting: 0)
    #expect(checked.errors.contains("kinvault: Emma: "), "\(checked.errors)")
    #expect(checked.output.contains("Everything is in its place."))
    try desk.run("member", "add", "Liam", expecting: 0)
    for command in [["people", "list"], ["access", "list"]] {
      let listed = try desk.run(command, expecting: 0)
      let text = listed.output + listed.errors
      #expect(text.contains("Emma") && text.contains("cannot be told: "), "\(text)")
      #expect(listed.output.contains("Liam"), "\(text)")
    }
    try desk.run("status", expecting: 0)
    let untold = "Who can read Emma cannot be told: "
    #expect(try desk.accessNotes().contains { $0.hasPrefix(untold) })
    let visitor = try PageVisitor(
      RunningPage(desk.program, environment: desk.environment.mapValues { $0 }),
      in: desk.program.folder.path)
    let page = try visitor.get("/people").body
    #expect(page.contains("Who may read this cannot be told.") && page.contains("Liam"), "\(page)")
    let synced = try desk.run("sync", expecting: 1)
    #expect(synced.output.contains("Access that has ended could not be taken away"))
  }

  /// The lost device is locked out, and has no live keys of other members, whatever is wrong with one of them.
  @Test func aDeviceIsLockedOutThoughOneMemberCannotHaveNewKeys() throws {
    try addTablet()
    try tablet.run("sync", expecting: 0)
    try spoilEpochOfEmma()
    try desk.run("member", "add", "Liam", expecting: 0)
    try desk.run("member", "add", "Ada", expecting: 0)
    let removed = try desk.run(
      "device", "revoke", "tablet", "--words-file", desk.program.wordsFile, "--yes", expecting: 1)
    #expect(removed.output.contains("Liam has been encrypted anew.\n"))
    #expect(removed.output.contains("Ada has been encrypted anew.\n"))
    #expect(removed.errors.contains("kinvault: Emma: "), "\(removed.errors)")
    #expect(removed.errors.contains("cannot be recalled"))
    let told = try tablet.run("sync", expecting: 8)
    #expect(told.errors.contains("This device has been removed from the vault (20"))
  }

  /// A machine keeps one state of a vault, with one device in it, for one folder.
  @Test func aSecondCloneOnOneMachineIsAskedAbout() throws {
    let words = desk.program.wordsFile
    func folder(_ name: String) -> String { desk.program.folder.appending(name).string }
    func clone(_ name: String, expecting status: Int32, _ options: String...) throws -> String {
      try tablet.run(
        ["clone", usb, folder(name), "--name", "usb"] + options, expecting: status
      ).errors
    }
    func devices(in name: String) throws -> [Substring] {
      let listed = try tablet.run("device", "list", "--vault", folder(name), expecting: 0)
      return Array(listed.output.split(separator: "\n").dropFirst())
    }
    _ = try clone("first", expecting: 0, "--words-file", words, "--device", "tablet")
    for options in [[], ["--words-file", words]] {
      let refused = try tablet.run(
        ["clone", usb, folder("second"), "--name", "usb"] + options, expecting: 10
      ).errors
      #expect(refused.contains("This machine is a device of this vault already"))
      #expect(refused.contains("XDG_STATE_HOME") && refused.contains("--yes"))
      #expect(refused.contains("new device") == !options.isEmpty)
      #expect(access(folder("second"), F_OK) != 0)
    }
    // As the device that it is, or with words, as where a clone is given again.
    _ = try clone("second", expecting: 0, "--yes")
    let again = try clone("second", expecting: 10, "--words-file", words)
    #expect(again.contains("--words-file") && !again.contains("XDG_STATE_HOME"))
    let approval = try clone("second", expecting: 11, "--from-device", "--words-file", words)
    #expect(approval.contains("This machine is a device of this vault already"))
    _ = try clone("second", expecting: 0)
    let before = try devices(in: "second")
    #expect(before.count == 2, "\(before)")
    #expect(before.contains { $0.hasPrefix("tablet (this one)") }, "\(before)")
    _ = try clone("second", expecting: 0, "--words-file", words, "--device", "new", "--yes")
    let after = try devices(in: "second")
    #expect(after.count == 3 && after.contains { $0.hasPrefix("new (this one)") }, "\(after)")
  }

  @Test func newWordsTakeThePlaceOfTheOldOnes() throws {
    let (old, new) = (desk.program.wordsFile, desk.program.folder.appending("new words").string)
    let rotated = try desk.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new, "--yes", expecting: 0)
    #expect(rotated.output.contains("The new words count from now on. Destroy the old ones."))
    let dead = try desk.run("recovery", "test", "--words-file", old, expecting: 3)
    #expect(dead.errors.contains("These 24 words were replaced by newer ones"))
    try desk.run("recovery", "test", "--words-file", new, expecting: 0)
    let again = try desk.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new + "er", "--yes", expecting: 3)
    #expect(again.errors.contains("These 24 words were replaced by newer ones"))
    #expect(access(new + "er", F_OK) != 0)
    let refused = try clone(to: tablet, expecting: 3, "--words-file", old)
    #expect(refused.errors.contains("These 24 words were replaced by newer ones"))
    let taken = try clone(to: tablet, expecting: 0, "--words-file", new)
    #expect(taken.output.contains("1 member with 2 records and folders in"))
  }

  /// New words on this machine, which cannot reach the remote meanwhile.
  private func rotate(_ machine: Machine, to new: String, from old: String) throws {
    let away = desk.program.folder.appending("away").string
    try #require(rename(usb, away) == 0)
    defer { rename(away, usb) }
    let rotated = try machine.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new, "--yes", expecting: 0)
    #expect(rotated.errors.contains("could not be synced now"), "\(rotated.errors)")
  }

  /// Where the remote can be reached, whoever changes keys sees first what another machine has changed.
  @Test func aKeyChangeMeetsTheRemotesFirst() throws {
    try addTablet()
    try desk.run("sync", expecting: 0)
    let old = desk.program.wordsFile
    let new = old + " new"
    try desk.run(
      "recovery", "rotate", "--words-file", old, "--words-out", new, "--yes", expecting: 0)
    try desk.run("sync", expecting: 0)
    let late = try tablet.run(
      "recovery", "rotate", "--words-file", old, "--words-out", old + " late", "--yes",
      expecting: 3)
    #expect(late.errors.contains("These 24 words were replaced by newer ones"))
    for machine in [tablet, desk] {
      try machine.run("sync", expecting: 0)
      #expect(try !machine.run("record", "list", expecting: 0).errors.contains("24 words"))
      try machine.run("recovery", "test", "--words-file", new, expecting: 0)
    }
  }

  @Test func wordsReplacedOnTwoMachinesAreJoinedByBothPapers() throws {
    try desk.run("device", "rename", "desk", expecting: 0)
    try addTablet()
    try desk.run("sync", expecting: 0)
    let old = desk.program.wordsFile
    let (first, second) = (old + " of the desk", old + " of the tablet")
    try rotate(desk, to: first, from: old)
    usleep(1_100_000)
    try rotate(tablet, to: second, from: old)
    for machine in [desk, tablet, desk] { try machine.run("sync") }

    // Each goes on with its own, and says so.
    for machine in [desk, tablet] {
      let told = try machine.run("record", "list", expecting: 0)
      #expect(told.errors.contains("Your 24 words were replaced more than once"))
      #expect(told.errors.contains("kinvault recovery join"))
      #expect(told.output.contains("Visit"))
    }
    try desk.run("unlock", expecting: 0)
    let status = try desk.run("status", expecting: 0).output
    #expect(status.contains("Keys:") && status.contains("recovery join"), "\(status)")
    let checked = try desk.run("check")
    #expect((checked.output + checked.errors).contains("recovery join"), "\(checked.output)")
    // It is not said of anything signed that whoever signed it has no key.
    #expect(checked.output.contains("What is not trusted is ignored"), "\(checked.output)")
    #expect(!checked.output.contains("has no key"), "\(checked.output)")

    // One paper is not enough, nor is the old one, which is all that whoever found it has.
    let alone = try desk.run("recovery", "join", "--words-file", first, expecting: 2)
    #expect(alone.errors.contains("both papers are needed"))
    let twice = try desk.run(
      "recovery", "join", "--words-file", first, "--words-file", first, expecting: 3)
    #expect(twice.errors.contains("These are not the two that can be joined."))
    for machine in [desk, tablet] {
      for new in [first, second] {
        let refused = try machine.run(
          "recovery", "join", "--words-file", old, "--words-file", new, expecting: 3)
        #expect(refused.errors.contains("These 24 words were replaced by newer ones"))
      }
    }

    let joined = try desk.run(
      "recovery", "join", "--words-file", first, "--words-file", second, expecting: 0)
    // What the tablet calls itself is still sealed with keys that this machine has not.
    let staying = joined.errors.split(separator: "\n").map(\.cells).filter { $0.count == 4 }
    #expect(staying.count == 3 && staying[1][0] == "desk (this one)", "\(joined.errors)")
    #expect(staying.map { $0[2] } == ["APPROVED BY", "the 24 words", "desk"])
    #expect(joined.output.contains("the words that were made last count from now on: those of 20"))
    #expect(joined.output.contains("Your keys are in one piece again."))
    for machine in [tablet, desk, tablet] { try machine.run("sync", expecting: 0) }
    for machine in [desk, tablet] {
      let quiet = try machine.run("record", "list", expecting: 0)
      #expect(!quiet.errors.contains("24 words"), "\(quiet.errors)")
      try machine.run("recovery", "test", "--words-file", second, expecting: 0)
      let dead = try machine.run("recovery", "test", "--words-file", first, expecting: 3)
      #expect(dead.errors.contains("These 24 words were replaced by newer ones"))
      let nothing = try machine.run("recovery", "join", expecting: 0)
      #expect(nothing.output.contains("Your keys are in one piece"))
    }
    try tablet.write("two", titled: "After")
    for machine in [tablet, desk] { try machine.run("sync", expecting: 0) }
    #expect(try desk.run("record", "list", expecting: 0).output.contains("After"))
    try desk.expectWhole()
  }

  /// Whoever found the old paper, and can write to the remote, makes words of their own from it.
  @Test func theOldPaperTakesNobodyOver() throws {
    try addTablet()
    try desk.run("sync", expecting: 0)
    let old = desk.program.wordsFile
    let (new, theirs) = (old + " new", old + " of the thief")
    // The tablet is a stolen one, or a machine that the old words made: its program is the thief's.
    try rotate(desk, to: new, from: old)
    usleep(1_100_000)
    try rotate(tablet, to: theirs, from: old)
    for machine in [tablet, desk, tablet] { try machine.run("sync") }
    for (one, other) in [(theirs, old), (old, theirs), (theirs, theirs)] {
      try tablet.run(
        "recovery", "join", "--words-file", one, "--words-file", other, expecting: 3)
    }
    let told = try desk.run("record", "list", expecting: 0)
    #expect(told.errors.contains("somebody has found the old ones"))
    let refused = try desk.run("recovery", "test", "--words-file", theirs, expecting: 10)
    #expect(refused.errors.contains("kinvault recovery join"))
    try desk.run("recovery", "test", "--words-file", new, expecting: 0)
    // The device that the thief has goes with the new words, as any other; what it calls itself is sealed with their keys.
    let listed = try desk.run("device", "list", expecting: 0).output
    let row = try #require(listed.split(separator: "\n").first { $0.contains("not heard of") })
    let id = try #require(row.split(separator: " ").last)
    try desk.run(
      "device", "revoke", String(id), "--words-file", new, "--yes", expecting: 0)
    try desk.write("two", titled: "Secret")
    for machine in [desk, tablet] { try machine.run("sync") }
    #expect(try !tablet.run("record", "list").output.contains("Secret"))
    // A machine that knows nothing yet goes by the words that are typed on it.
    let phone = Machine("phone", beside: desk.program)
    try clone(to: phone, expecting: 0, "--words-file", new, "--device", "phone")
    #expect(try phone.run("record", "list", expecting: 0).output.contains("Secret"))
  }

  @Test func wordsForAnotherVaultAreToldAtOnce() throws {
    let words = desk.program.folder.appending("eight").string
    // Well-formed, and of a person that begins with zeros.
    try desk.program.write(
      "abandon abandon abandon abandon abandon abandon abandon ability\n", to: words)
    let result = try clone(to: tablet, expecting: 3, "--from-device", "--words-file", words)
    #expect(!result.errors.contains("Waiting for the other device"))
  }
}
