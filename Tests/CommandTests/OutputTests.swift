import Glibc
import Testing
import Vault
import VaultErrors
import VaultSync

@testable import kinvault

@Suite struct OutputTests {
  @Test func columnsAreAsWideAsTheirWidestCellOnScreen() {
    var table = Table(columns: [
      .init(heading: "NAME"), .init(heading: "N", alignment: .right), .init(heading: "REST"),
    ])
    table.add(["Zoë", "7", "a"])
    table.add(["山田花子", "12", "b"])
    #expect(table.lines(width: nil) == ["NAME       N  REST", "Zoë        7  a", "山田花子  12  b"])
  }

  @Test func onlyTheLastColumnIsCut() {
    var table = Table("A", "B")
    table.add(["first", "a rather long last cell"])
    #expect(table.lines(width: 20)[1] == "first  a rather lon…")
  }

  @Test func aLongTitleLeavesRoomForWhatComesAfterIt() {
    var table = Table(columns: [
      .init(heading: "A"), .init(heading: "TITLE", isCut: true), .init(heading: "PATH"),
    ])
    table.add(["x", "a title that is rather long", "Emma/a path that is long"])
    #expect(table.lines(width: 40)[1] == "x  a title that is rathe…  Emma/a path …")
    #expect(
      table.lines(width: nil)[1] == "x  a title that is rather long  Emma/a path that is long")
  }

  /// Names of a family side by side made lines of hundreds of columns.
  @Test func ofSeveralThatAreCutTheWidestIsCutFirst() {
    var table = Table(columns: [
      .init(heading: "A", isCut: true), .init(heading: "B", isCut: true), .init(heading: "ID"),
    ])
    table.add(["Emma", "a name that is rather long", "63b29977"])
    #expect(table.lines(width: 30)[1] == "Emma  a name that i…  63b29977")
    table.add(["another name that is long", "b", "214712c6"])
    #expect(table.lines(width: 34)[1] == "Emma         a name tha…  63b29977")
    #expect(table.lines(width: 10)[2] == "another…  b         214712c6")
  }

  @Test func longNumbersAreCutWhereNothingIsKnownOfThem() {
    let (member, device) = (
      String(repeating: "3f", count: 32), String(repeating: "a0", count: 32)
    )
    let text = NamedPath.shortened(beginning: "members/\(member)/heads/\(device): It is older: 3.")
    #expect(text == "members/3f3f3f3f…/heads/a0a0a0a0…: It is older: 3.")
    for named in ["members/“Emma”/heads/“desk”: Gone.", "No path at all"] {
      #expect(NamedPath.shortened(beginning: named) == named)
    }
  }

  @Test func namesCannotSteerTheTerminal() {
    #expect(Terminal.visible("a\u{1b}[2Jb") == "a\\u{1b}[2Jb")
    #expect(Terminal.visible("card\u{202E}gpj.exe") == "card\\u{202e}gpj.exe")
    #expect(Terminal.visibleText("one\r\ntwo\t\u{7}") == "one\ntwo\t\\u{7}")
    #expect(Terminal.visible("Zoë 山田 👩‍👧") == "Zoë 山田 👩‍👧")
  }

  /// Text of Latin characters alone is measured and shown without looking each of them up.
  @Test func aLatinTextIsShownAsOneAmongOthers() throws {
    for value in 0..<UInt32(0x300) {
      let text = String(try #require(Unicode.Scalar(value)))
      let mixed = text + "山"
      #expect(DisplayWidth.of(text) + 2 == DisplayWidth.of(mixed), "\(value)")
      #expect(Terminal.visible(text) + "山" == Terminal.visible(mixed), "\(value)")
    }
  }

  @Test func aLineEndsWithItsLastCharacter() {
    var table = Table(columns: [
      .init(heading: "A"), .init(heading: "N", alignment: .right), .init(heading: "REST"),
    ])
    table.add(["long", "100", "  "])
    table.add(["b", "", ""])
    #expect(table.lines(width: nil) == ["A       N  REST", "long  100", "b"])
  }

  @Test func bytesAreInPowersOfTen() {
    #expect(ByteCount.text(999) == "999 B")
    #expect(ByteCount.text(1_000) == "1.0 kB")
    #expect(ByteCount.text(9_960) == "10 kB")
    #expect(ByteCount.text(999_600) == "1.0 MB")
    #expect(ByteCount.text(20 << 30) == "21 GB")
    #expect(ByteCount.text(.max) == "18 EB")
  }

  @Test func timesInUTCAreRFC3339() {
    #expect(DateText.utc(milliseconds: 1_737_381_787_012) == "2025-01-20T14:03:07.012Z")
    #expect(DateText.utc(milliseconds: 0) == "1970-01-01T00:00:00.000Z")
  }

  @Test(arguments: [20, 40, 80, 200])
  func aProgressLineFitsTheTerminal(_ width: Int) {
    for done: UInt64 in [0, 1, 500_000_000, 1_000_000_000] {
      let progress = WorkProgress(
        label: "Some rather long label here", done: done, total: 1_000_000_000)
      let line = ProgressBar.line(progress, unit: .bytes, elapsed: 3, width: width)
      #expect(DisplayWidth.of(line) < width)
    }
  }

  @Test func exitStatusesAreDifferentAndExplained() {
    #expect(Set(ExitStatus.allCases.map(\.rawValue)).count == ExitStatus.allCases.count)
    #expect(ExitStatus.allCases.allSatisfy { !$0.meaning.isEmpty })
  }

  /// A whole path is not one in the vault's folder, and a check would find nothing that lacks it.
  @Test func aFolderThatGoesMeanwhileIsNotCalledAPartOfTheVault() {
    let path = "/mnt/stick/vault/.staging/lock"
    let gone = FailureReport(VaultError.missing(path: path))
    #expect(gone.status == .damaged && gone.message.hasPrefix("\(path) is gone: "))
    #expect(!gone.message.contains("kinvault check"))
    let part = FailureReport(VaultError.missing(path: "people/ab/root"))
    #expect(part.message.contains("is missing from the vault folder"))
  }

  @Test func whatADiskCannotReadHasAdvice() {
    let report = FailureReport(VaultError.io(path: "members/ab", errno: EIO))
    #expect(report.status == .system)
    #expect(report.message.hasPrefix("members/ab: ") && report.message.contains("have it repaired"))
    let other = FailureReport(VaultError.io(path: "members/ab", errno: EMFILE))
    #expect(!other.message.contains("repaired"))
  }

  /// Collecting and sending need some room themselves.
  @Test func ofAFullDiskItIsSaidFirstWhatNeedsNoRoom() {
    let error = VaultError.noSpace(path: "members/ab")
    let texts = [
      FailureReport(error).message, FailureReport(SyncError.vault(error)).message,
      SyncError.vault(error).message,
    ]
    for text in texts {
      #expect(text.contains("Move or delete other files on that disk"), "\(text)")
      #expect(!text.contains("--push") && !text.contains("To make room"), "\(text)")
    }
  }

  @Test func aFailureSurvivesTheWayFromTheBackground() throws {
    let report = FailureReport(CommandError.refused("Not so: 3 things."))
    let again = try #require(FailureReport(encoded: report.encoded))
    #expect(again.status == .refused && again.message == "Not so: 3 things.")
    #expect(FailureReport(encoded: "nonsense") == nil)
  }
}
