import TestSupport
import Testing
import VaultCrypto
import VaultModel

@testable import kinvault

/// What somebody says yes to is what they mean.
@Suite struct AcceptCommandTests {
  /// Ben offers Anna his place in a member, and a stranger gives her one of the same name.
  @Test func aStrangersMemberIsNotTakenForAnOwnersPlace() throws {
    let two = try TwoPeople()
    try two.ben("member", "add", "Liam", expecting: 0)
    try two.ben("share", "Liam", "--with", "Adult A", "--role", "editor", expecting: 0)
    try two.ben("hand-over", "Liam", "--to", "Adult A", "--yes", expecting: 0)
    let listed = try two.anna.run("accept", expecting: 0).output.split(separator: "\n")
    let id = String(try #require(listed.last?.cells.last))
    let state: [String: String?] = [
      "XDG_STATE_HOME": two.anna.folder.appending("a stranger's state").string
    ]
    try two.join(
      PeopleCommandTests.forgedInvitation(two), state: state, words: "a stranger's words")
    for arguments in [
      ["member", "add", "Liam"], ["share", "Liam", "--with", "Adult A", "--role", "owner"],
    ] {
      let result = try two.run(arguments, state: state)
      #expect(result.status == 0, "\(result.errors)")
    }
    let refused = try two.anna.run("accept", "Liam", "--yes", expecting: 2).errors
    #expect(refused.contains("More than one is called that.") && refused.contains(id))
    let agreed = try two.anna.run("accept", id, "--yes", expecting: 0).output
    #expect(agreed.contains("place among the owners of Liam."))
  }

  /// An owner of Liam makes him anew under the name of Emma.
  @Test func whatIsMadeAnewIsSaidByTheNameOfTheOldOne() {
    func offer(of old: String, called name: String) -> Offer {
      Offer(
        id: .random(), rawName: name, givers: "Ben", time: 1, verification: "words compared",
        renewal: (old, "Ben", true, "Carla"))
    }
    let forged = offer(of: "Liam", called: "Emma")
    #expect(forged.question.contains("an owner of Liam, has made it anew as Emma, without Carla"))
    #expect(forged.question.contains("Take it beside Liam"))
    #expect(forged.line.contains("an owner of \u{201C}Liam\u{201D}"))
    let rightful = offer(of: "Emma", called: "Emma").question
    #expect(rightful.contains("an owner of Emma, has made it anew, without Carla"))
    #expect(rightful.contains("Take it in the place of the old one"))
  }
}
