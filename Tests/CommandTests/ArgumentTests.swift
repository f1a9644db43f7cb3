import Glibc
import SystemPackage
import TestSupport
import Testing
import VaultCrypto

@testable import kinvault

@Suite struct ArgumentTests {
  @Test(arguments: [("90s", 90), ("5", 300), ("10m", 600), ("2h", 7200), ("1d", 86_400)])
  func readsTimes(_ text: String, _ seconds: Int) {
    #expect(TimeArgument(argument: text)?.seconds == seconds)
  }

  @Test(arguments: ["", "m", "-5", "0", "5x", "99999999999999999999s"])
  func refusesWhatIsNoTime(_ text: String) {
    #expect(TimeArgument(argument: text) == nil)
  }

  @Test(arguments: ["2025", "2025-01", "2024-02-29", "2000-02-29"])
  func readsDatesAsFarAsTheyAreKnown(_ text: String) {
    #expect(DateArgument(argument: text)?.text == text)
  }

  @Test(arguments: [
    ("20.1.2025", "2025-01-20"), ("3. 5. 2024", "2024-05-03"), ("1.2025", "2025-01"),
    ("2025-1-1", "2025-01-01"),
  ])
  func readsDatesAsRecordsDo(_ text: String, _ date: String) throws {
    #expect(DateArgument(argument: text)?.text == date)
    let (typed, known) = (MomentArgument(argument: text), MomentArgument(argument: date))
    #expect(typed != nil && typed?.start == known?.start && typed?.end == known?.end)
    let (hour, same) = (MomentArgument(argument: "20.1.2025 14:03"), "2025-01-20 14:03")
    #expect(hour != nil && hour?.start == MomentArgument(argument: same)?.start)
  }

  @Test(arguments: [
    "", "25", "2025-13", "2025-02-29", "1900-02-29", "2025-01-01-01", "２０２５", "1/2/2025",
    "1.2.25", "31.2.2025", "20.1.2025 14:03",
  ])
  func refusesDatesThatDoNotExist(_ text: String) {
    #expect(DateArgument(argument: text) == nil)
  }

  @Test func aNameIsOneLineThatShows() {
    for name in ["Anna", "ليلى", "Anna & Ben"] {
      #expect(NameArgument(argument: name)?.text == name)
    }
    for name in ["", "Anna\nBen", "\u{1B}[2J", String(repeating: "n", count: 256)] {
      #expect(NameArgument(argument: name) == nil)
    }
  }

  @Test func aFieldIsCutAtItsFirstEqualsSign() {
    #expect(FieldArgument(argument: "a=b=c")?.value == "b=c")
    #expect(FieldArgument(argument: "a=")?.value == "")
    #expect(FieldArgument(argument: "=b") == nil)
    #expect(FieldArgument(argument: "ab") == nil)
  }

  @Test func theNearestFolderAboveIsTheVault() {
    let isVault: (FilePath) -> Bool = { $0 == "/a/b" }
    #expect(VaultLocation.nearest(from: "/a/b/c/d", isVault: isVault) == "/a/b")
    #expect(VaultLocation.nearest(from: "/a/b", isVault: isVault) == "/a/b")
    #expect(VaultLocation.nearest(from: "/a", isVault: isVault) == nil)
  }

  private func secret(_ content: String) throws -> String {
    let folder = try TemporaryFolder()
    let path = folder.appending("secret").string
    let file = try FileDescriptor.open(
      FilePath(path), .writeOnly, options: [.create], permissions: .ownerReadWrite)
    try file.closeAfter { _ = try file.writeAll(content.utf8) }
    let secret = try SecretInput.read(path: path)
    return secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  @Test func exactlyOneLineEndDoesNotBelongToAPassword() throws {
    #expect(try secret("pass word") == "pass word")
    #expect(try secret("pass\n") == "pass")
    #expect(try secret("pass\r\n") == "pass")
    #expect(try secret("pass\n\n") == "pass\n")
    #expect(try secret(" pass \n") == " pass ")
    #expect(try secret("pass\r") == "pass\r")
    #expect(try secret(String(repeating: "x", count: 4096)).count == 4096)
  }

  @Test func anEmptyOrHugePasswordFileIsRefused() {
    #expect(throws: kinvault.CommandError.self) { try secret("") }
    #expect(throws: kinvault.CommandError.self) { try secret("\n") }
    #expect(throws: kinvault.CommandError.self) { try secret(String(repeating: "x", count: 4097)) }
  }

  @Test func aPasswordCommandMustSucceed() throws {
    let secret = try SecretInput.read(command: "printf 'a b\\n'")
    #expect(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "a b")
    #expect(throws: kinvault.CommandError.self) {
      _ = try SecretInput.read(command: "echo x; exit 3")
    }
    #expect(throws: kinvault.CommandError.self) { _ = try SecretInput.read(command: "true") }
  }

  @Test func theWordsAreNumberedDownTheColumns() throws {
    let lesson = WordsLesson(words: (1...24).map { "word\($0)" })
    let first = lesson.columns.split(separator: "\n").first.map(String.init)
    #expect(first == "   1 word1        7 word7       13 word13      19 word19      ")
    // And come back as they are shown there.
    let words = RecoveryWords.random()
    let isSame = try RecoveryWords(parsing: WordsLesson(words: words.words).columns).isSame(
      as: words)
    #expect(isSame)
    for _ in 0..<100 {
      let questions = WordsLesson.questions(count: 24)
      #expect(Set(questions).count == 3 && questions.allSatisfy((0..<24).contains))
    }
  }
}
