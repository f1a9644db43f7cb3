import Foundation
import SystemPackage
import TestSupport
import Testing

/// Forms of the page that are sent when what they were of is no longer what is there, or cannot be saved.
@Suite(.timeLimit(.minutes(60))) struct PageFormsTests {
  private static let path = "Emma/Notes/2025-01-20 Wrist"

  private let program: Program
  private let running: RunningPage

  init() throws {
    program = try Program.withVault()
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Wrist", "--date", "2025-01-20", "--note",
      "sprained", expecting: 0)
    running = try RunningPage(program)
  }

  private func visitor() throws -> PageVisitor { try PageVisitor(running, in: program.folder.path) }

  private func end() throws {
    running.command.signal(SIGTERM)
    #expect(try running.end() == 0)
  }

  /// What a field of a form that is shown holds.
  private func field(_ name: String, in page: String) throws -> String {
    let start = try #require(page.firstRange(of: "name=\"\(name)\" value=\""), "\(page)")
    return String(page[start.upperBound...].prefix { $0 != "\"" })
  }

  /// Else a browser keeps what was typed of a record in files of its own, when the vault is long closed.
  @Test func browsersAreToldToKeepNothingThatIsTyped() throws {
    let visitor = try visitor()
    let record = try #require(try visitor.records().first)
    let member = record.split(separator: "/")[1]
    for path in [
      "\(record)/edit", "/new?member=\(member)&type=vaccine", "/people", "/vault",
      "/new?member=\(member)&type=other",
    ] {
      let page = try visitor.get(path).body
      let typed = page.matches(of: /<input[^>]*>/).map { String($0.output) }
        .filter { !$0.contains("type=\"hidden\"") && !$0.contains("type=\"file\"") }
      #expect(!typed.isEmpty, "\(path)")
      for field in typed { #expect(field.contains("autocomplete=\"off\""), "\(field)") }
    }
    try end()
  }

  /// Of the types that Kinvault knows none is right for every record.
  @Test func aTypeOfOnesOwnIsTyped() throws {
    let visitor = try visitor()
    let member = try String(#require(try visitor.records().first).split(separator: "/")[1])
    let form = try visitor.get("/new?member=\(member)&type=other").body
    #expect(form.contains("name=\"own\"") && !form.contains("name=\"type\""))
    var fields = ["member": member, "title": "Passport", "date": "2025-03-01", "text": "Kept."]
    for bad in ["", " ", String(repeating: "x", count: 33)] {
      fields["own"] = bad
      let refused = try visitor.post("/new", fields)
      #expect(refused.status == 422 && refused.body.contains("Kept."), "\(refused)")
    }
    fields["own"] = "Vaccination card"
    let record = try #require(try visitor.post("/new", fields).header("location"))
    #expect(try visitor.get(record).body.contains("Vaccination card"))
    let note = try program.run("record", "show", "Emma/2025-03-01 Passport", expecting: 0)
    #expect(note.output.contains("Vaccination card"), "\(note.output)")

    // By the name that the page has for it, it is the one that is known, in its folder.
    (fields["own"], fields["title"]) = ("lab result", "Blood")
    let known = try #require(try visitor.post("/new", fields).header("location"))
    #expect(try visitor.get(known).body.contains("Lab Results"))

    let edit = try visitor.get("\(record)/edit").body
    let changes = [
      "base": try field("base", in: edit), "name": "2025-03-01 Passport", "name.0": "type",
      "value.0": "Vaccination card", "own": "Travel", "text": "Kept.",
    ]
    #expect(try visitor.post("\(record)/edit", changes).status == 303)
    #expect(try visitor.get(record).body.contains("Travel"))
    try end()
  }

  @Test func aRecordLeadsToThoseWithTheSameTagTypeOrProvider() throws {
    for title in ["First", "Second"] {
      try program.run(
        "record", "add", "--member", "Emma", "--type", "visit", "--title", title, "--field",
        "tags=travel,sore arm", "--field", "provider=Dr. Weber", expecting: 0)
    }
    let visitor = try visitor()
    let page = try visitor.get(
      try #require(
        try visitor.records().first { try visitor.get($0).body.contains("sore arm") })
    ).body
    #expect(page.contains("href=\"/?type=visit\""))
    #expect(try !visitor.get("/?type=visit").body.contains("Wrist"))
    for words in ["\"sore arm\"", "\"Dr. Weber\""] {
      #expect(page.contains("value=\"&quot;\(words.dropFirst().dropLast())&quot;\""), "\(page)")
      let place = try #require(
        try visitor.post("/search", ["words": words]).header("location"))
      let found = try visitor.get(place).body
      #expect(found.contains("First") && found.contains("Second") && !found.contains("Wrist"))
    }
    try end()
  }

  @Test func whatARecordWasIsReadAndComesBack() throws {
    let visitor = try visitor()
    let record = try #require(
      try visitor.records().first { try visitor.get($0).body.contains("sprained") })
    func versions() throws -> [String] {
      let page = try visitor.get("\(record)/history").body
      #expect(page.contains("signed by") && page.contains("Created"), "\(page)")
      return page.matches(of: /href="([^"]*\/history\/[0-9a-f]{64})"/).map { String($0.1) }
    }
    let first = try #require(try versions().first)
    let edit = try visitor.get("\(record)/edit").body
    let change = ["base": try field("base", in: edit), "text": "broken after all"]
    #expect(try visitor.post("\(record)/edit", change).status == 303)
    #expect(try versions().count == 2)
    #expect(try versions().last == first)
    let old = try visitor.get(first).body
    #expect(old.contains("sprained") && !old.contains("broken"))

    // Only by whoever has seen what is there now.
    let base = try field("base", in: old)
    let again = ["base": base, "text": "broken twice"]
    #expect(try visitor.post("\(record)/edit", again).status == 303)
    #expect(try visitor.post(first, ["base": base]).status == 409)
    #expect(try visitor.get(record).body.contains("broken twice"))
    let seen = try field("base", in: try visitor.get(first).body)
    #expect(try visitor.post(first, ["base": seen]).status == 303)
    #expect(try visitor.get(record).body.contains("sprained"))
    #expect(try versions().count == 4)

    // A version of another record is none of this one.
    let root = String(record.dropLast(32)) + String(repeating: "0", count: 32)
    #expect(try visitor.get(root + first.dropFirst(record.count)).status == 404)
    try end()
  }

  /// Somebody renames the record while its form is open.
  @Test func aNameThatNobodyTypedIsNotGivenBack() throws {
    let visitor = try visitor()
    let record = try #require(
      try visitor.records().first { try visitor.get($0).body.contains("sprained") })
    let edit = try visitor.get("\(record)/edit").body
    let change = [
      "base": try field("base", in: edit), "name": "2025-01-20 Wrist", "text": "broken after all",
    ]
    let mountpoint = program.folder.appending("mounted").string
    try program.run("mount", mountpoint, expecting: 0)
    let renamed = try CommandRunner.run(
      "mv", ["\(mountpoint)/\(Self.path)", "\(mountpoint)/Emma/Notes/2025-01-20 Left wrist"])
    try program.run("unmount", mountpoint, expecting: 0)
    #expect(renamed.status == 0, "\(renamed.errors)")
    // The page looks for what others have changed once in a second.
    for _ in 0..<2400 {
      if try visitor.get(record).body.contains("Left wrist") { break }
      usleep(50_000)
    }
    #expect(try visitor.post("\(record)/edit", change).status == 303)
    let kept = try program.run("record", "show", "Emma/Notes/2025-01-20 Left wrist", expecting: 0)
    #expect(kept.output.contains("broken after all"), "\(kept.output)")
    // One that was typed counts.
    let again = try visitor.get("\(record)/edit").body
    let wish = ["base": try field("base", in: again), "name": "Wrist", "text": "broken after all"]
    #expect(try visitor.post("\(record)/edit", wish).status == 303)
    try program.run("record", "show", "Emma/Notes/Wrist", expecting: 0)
    try end()
  }

  /// The record is out of reach by now: its form cannot be shown, and what was typed into it is.
  @Test func whatWasTypedIsShownWhereItsFormCannotBe() throws {
    let visitor = try visitor()
    let record = try #require(try visitor.records().first)
    let gone = String(record.dropLast(32)) + String(repeating: "f", count: 32)
    let typed = ["text": "a <long> story", "name.0": "lot", "value.0": "AB 1"]
    let answer = try visitor.post("\(gone)/edit", typed)
    #expect(answer.status == 404)
    #expect(answer.body.contains("a &lt;long&gt; story") && answer.body.contains("AB 1"))
    // Not what a form without the page's secret says.
    #expect(try !visitor.post("\(gone)/edit", typed, form: nil).body.contains("AB 1"))
    try end()
  }

  /// Nor is a record that was deleted brought back by that.
  @Test func whatWasChangedOrDeletedMeanwhileIsNotMoved() throws {
    let visitor = try visitor()
    let record = try #require(
      try visitor.records().first { try visitor.get($0).body.contains("sprained") })
    let form = try visitor.get("\(record)/move").body
    let top = try #require(form.matches(of: /[0-9a-f]{32,64}\.[0-9a-f]{32,64}/).last)
    let wish = ["place": String(top.output), "base": try field("base", in: form)]
    let scan = program.folder.appending("scan.txt").string
    try program.write("a scan", to: scan)
    try program.run("attach", Self.path, scan, expecting: 0)
    let changed = try visitor.post("\(record)/move", wish)
    #expect(changed.status == 409, "\(changed)")
    #expect(changed.body.contains("stays where it is"))

    let base = try field("base", in: try visitor.get(record).body)
    #expect(try visitor.post("\(record)/delete", ["base": base]).status == 303)
    let deleted = try visitor.post("\(record)/move", wish)
    #expect(deleted.status == 409 && deleted.body.contains("This record is deleted."))
    #expect(try visitor.get("\(record)/move").status == 303)
    #expect(try !visitor.get("/").body.contains("Wrist"))

    // A member's root is nothing that moves.
    let root = String(record.dropLast(32)) + String(repeating: "0", count: 32)
    let rootBase = try field("base", in: try visitor.get("\(root)/edit").body)
    let moved = try visitor.post("\(root)/move", ["place": wish["place"] ?? "", "base": rootBase])
    #expect(moved.status == 404, "\(moved)")
    try end()
  }
}
