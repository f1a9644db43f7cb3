import TestSupport
import Testing

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
}
