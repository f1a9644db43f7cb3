import Testing

@testable import kinvault

/// What is said about a word that is no command.
@Suite struct UnknownCommandTests {
  private func said(of line: String) -> String? {
    UnknownCommand(in: line.split(separator: " ").map(String.init))?.message
  }

  @Test(arguments: [
    "status", "record list --text x", "member add Emma", "--help", "record --help", "help record",
    "", "record", "export Emma/Vaccines /tmp/x",
  ])
  func isSilentWhereEveryCommandIsOne(_ line: String) {
    #expect(said(of: line) == nil)
  }

  @Test(arguments: [
    ("stauts", "kinvault status"), ("umount", "kinvault unmount"), ("mout", "kinvault mount"),
    ("grep", "kinvault search"), ("ls", "kinvault record list"),
    ("add", "kinvault record add"), ("add", "kinvault member add"), ("add", "kinvault attach"),
    ("rotate", "kinvault recovery rotate"), ("rec", "kinvault record"),
    ("member remove", "kinvault member rename"), ("member remove", "kinvault leave"),
    ("record lst", "kinvault record list"), ("remote ad", "kinvault remote add"),
  ])
  func namesTheCommandThatWasPerhapsMeant(_ line: String, _ meant: String) throws {
    let message = try #require(said(of: line))
    #expect(message.contains("\n  \(meant)  "), "\(message)")
  }

  @Test func saysWhereAllCommandsAre() throws {
    #expect(
      said(of: "record qqqqqq")
        == "There is no command 'qqqqqq' in 'kinvault record'.\nAll commands: kinvault record --help"
    )
  }

  @Test func whatIsTypedCannotSpeakToTheTerminal() throws {
    let message = try #require(UnknownCommand(in: ["\u{1B}[2Jx"])?.message)
    #expect(!message.contains("\u{1B}"))
  }
}
