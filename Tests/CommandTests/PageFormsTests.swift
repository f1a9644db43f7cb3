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
    for path in ["\(record)/edit", "/new?member=\(member)&type=vaccine", "/people", "/vault"] {
      let page = try visitor.get(path).body
      let typed = page.matches(of: /<input[^>]*>/).map { String($0.output) }
        .filter { !$0.contains("type=\"hidden\"") && !$0.contains("type=\"file\"") }
      #expect(!typed.isEmpty, "\(path)")
      for field in typed { #expect(field.contains("autocomplete=\"off\""), "\(field)") }
    }
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
