import TestSupport
import Testing

/// A member that is made anew without an owner who is lost, as people do it.
@Suite struct MemberRenewTests {
  @Test func whoCannotBeTakenOutIsLeftBehind() throws {
    let pair = try InvitedPair.sharing(as: "owner")
    let (anna, ben) = (pair.anna, pair.ben)
    try anna.attach("scan.jpg", byteCount: 3 << 20, to: "Emma/Notes/2025-01-20 Visit")
    try pair.meet()
    let senior = try ben.run("unshare", "Emma", "--with", "Adult A", expecting: 8)
    #expect(senior.errors.contains("kinvault member renew"))
    let unasked = try ben.run("member", "renew", "Emma", "--without", "Adult A", expecting: 10)
    #expect(unasked.errors.contains("Make Emma anew, without Adult A"))
    let needless = try anna.run(
      "member", "renew", "Emma", "--without", "Ben", "--yes", expecting: 10)
    #expect(needless.errors.contains("kinvault unshare"))
    try ben.run("member", "renew", "Emma", "--without", "Nobody", "--yes", expecting: 6)

    let before = try ben.checksums()
    let made = try ben.run(
      "member", "renew", "Emma", "--without", "Adult A", "--yes", expecting: 0)
    #expect(made.output.contains("It shows as Emma, and the old one as Emma ("))
    #expect(try ben.checksums() == before)
    let names = try ben.run("member", "list", "--json", expecting: 0).output
    let id = try #require(Self.id(shownAs: "Emma", in: names))
    try ben.run(
      "record", "add", "--member", id, "--title", "Hers no more", "--note", "x", expecting: 0)
    try pair.meet()
    #expect(try !anna.run("record", "list", expecting: 0).output.contains("Hers no more"))
    for machine in [anna, ben] { try machine.expectWhole() }

    // She is back, and let in; she is asked before it takes the name.
    try ben.run("share", id, "--with", "Adult A", "--role", "editor", expecting: 0)
    try pair.meet()
    let listed = try anna.run("member", "list", expecting: 0)
    #expect(listed.errors.contains("Ben, an owner of “Emma”, has made it anew"))
    #expect(try anna.run("accept", expecting: 0).output.contains("made anew"))
    let asked = try anna.run("accept", id, expecting: 10)
    #expect(asked.errors.contains("Take it in the place of the old one"))
    #expect(try !anna.run("record", "list", expecting: 0).output.contains("Hers no more"))
    let taken = try anna.run("accept", id, "--yes", expecting: 0)
    #expect(taken.output.contains("Emma shows from now on, as Emma."))
    #expect(try anna.run("record", "list", expecting: 0).output.contains("Hers no more"))
    let after = try anna.run("member", "list", "--json", expecting: 0).output
    #expect(Self.id(shownAs: "Emma", in: after) == id)
  }

  /// The id of the row with this shown name.
  private static func id(shownAs name: String, in json: String) -> String? {
    for row in json.split(separator: "}") where row.contains("\"shownName\" : \"\(name)\"") {
      let words: [Substring] = row.split(separator: "\"")
      return words.first { $0.count == 64 && $0.allSatisfy(\.isHexDigit) }.map(String.init)
    }
    return nil
  }
}
