import Foundation
import SystemPackage
import TestSupport
import Testing

/// What the page is asked that it offers no form for, by somebody who has the code and makes requests of their own.
@Suite(.timeLimit(.minutes(60))) struct PageRightsTests {
  private func ids(_ pattern: Regex<Substring>, in text: String) -> [String] {
    text.matches(of: pattern).map { String($0.output) }
  }

  private func page(of machine: Machine) throws -> RunningPage {
    try RunningPage(machine.program, environment: machine.environment.mapValues { $0 })
  }

  /// A viewer sends every form that changes something: nothing changes, here or for anybody else.
  @Test func aViewerChangesNothing() throws {
    let pair = try InvitedPair.sharing(as: "viewer")
    try pair.ben.run("member", "add", "Ole", expecting: 0)
    try pair.meet()
    let before = try state(pair)
    #expect(before.count { $0.contains("Visit") } == 4)

    let running = try page(of: pair.ben)
    let ben = try PageVisitor(running, in: pair.ben.program.folder.path)
    let record = try #require(
      ben.records().first { try ben.get($0).body.contains("Visit") })
    let member = String(record.split(separator: "/")[1])
    let shown = try ben.get(record).body
    for form in ["/edit", "/move", "/delete", "/files"] {
      #expect(!shown.contains("\(record)\(form)\""), "\(form)")
    }
    let people = Set(ids(/\/people\/[0-9a-f]{32,64}/, in: try ben.get("/people").body))
    let anna = try #require(people.first).split(separator: "/")[1]
    let places = ids(/[0-9a-f]{32,64}[^"]*/, in: try ben.get("/new").body)
    let name = "78"  // A file called x.

    var refused: [PageVisitor.Answer] = []
    func sent(_ answer: PageVisitor.Answer, _ what: String) {
      #expect((400..<600).contains(answer.status), "\(what): \(answer.status)")
      refused.append(answer)
    }
    for role in ["viewer", "editor", "owner"] {
      let fields = ["person": String(anna), "role": role, "sure": "yes"]
      sent(try ben.post("/access/\(member)/share", fields), "share \(role)")
    }
    // What was typed is still there, to be copied.
    let edit = try ben.post(
      "\(record)/edit", ["text": "Mine.", "base": String(repeating: "0", count: 64)])
    sent(edit, "edit")
    #expect(edit.body.contains("Mine.</textarea>"))
    sent(try ben.post("\(record)/delete", ["base": ""]), "delete")
    sent(try ben.post("\(record)/restore"), "restore")
    sent(try ben.post("\(record)/move", ["place": "\(member)/"]), "move")
    let versions = ids(/\/history\/[0-9a-f]{64}/, in: try ben.get("\(record)/history").body)
    #expect(!versions.isEmpty)
    for version in versions { sent(try ben.post(record + version), "go back") }
    for place in places { sent(try ben.post("\(record)/move", ["place": place]), "move") }
    sent(try ben.put("\(record)/files?name=x", "bytes"), "attach")
    sent(try ben.get("\(record)/files/\(name)"), "the file")
    let new = try ben.post(
      "/new", ["member": member, "type": "note", "title": "Mine", "date": "", "text": "Typed."])
    sent(new, "new")
    #expect(new.body.contains("value=\"Mine\"") && new.body.contains("Typed.</textarea>"))
    sent(
      try ben.post("/conflicts/\(record.dropFirst("/records/".count))", ["decision": "take"]),
      "conflict")
    #expect(refused.count > 10)
    // Taking access away is long work: it begins, and says that it may not.
    _ = try ben.post("/access/\(member)/\(anna)/remove")
    for _ in 0..<1200 where try !ben.get("/vault/work").body.contains("role=\"alert\"") {
      usleep(50_000)
    }
    #expect(try ben.get("/vault/work").body.contains("Only an owner of this member may do that"))

    running.command.signal(SIGTERM)
    #expect(try running.end() == 0)
    try pair.meet()
    #expect(try state(pair) == before)
    for machine in [pair.anna, pair.ben] { try machine.expectWhole() }
  }

  /// What both see of records, also deleted ones, and of who may do what.
  private func state(_ pair: InvitedPair) throws -> [String] {
    try [pair.anna, pair.ben].flatMap { machine in
      [
        try machine.run("record", "list", "--all", "--json", expecting: 0).output,
        try machine.run("access", "list", expecting: 0).output,
        try machine.run("record", "show", "Emma/Notes/2025-01-20 Visit", "--json", expecting: 0)
          .output,
      ]
    }
  }

  /// A sync from the page stops where somebody has to decide, and says so: it is not called in sync.
  @Test func aSyncThatStopsBeforeAMassChangeIsToldOnThePage() throws {
    let program = try Program.withVault()
    let desk = Machine(first: program)
    let usb = program.folder.appending("usb").string
    try desk.write("one", titled: "Visit")
    try desk.attachMany()
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    let laptop = Machine("laptop", beside: program)
    try laptop.clone(usb)
    try laptop.removeMany()
    try laptop.run("sync", expecting: 0)

    let running = try page(of: desk)
    let visitor = try PageVisitor(running, in: program.folder.path)
    #expect(try visitor.post("/vault/sync").status == 303)
    for _ in 0..<1200 where try !visitor.get("/vault/work").body.contains("role=\"alert\"") {
      usleep(50_000)
    }
    let told = try visitor.get("/vault/work").body
    #expect(told.contains("kinvault sync usb --accept-mass-change"), "\(told)")
    #expect(!told.contains("In sync."))
    #expect(try visitor.get("/").body.contains("Record 29"))
    running.command.signal(SIGTERM)
    #expect(try running.end() == 0)
  }
}
