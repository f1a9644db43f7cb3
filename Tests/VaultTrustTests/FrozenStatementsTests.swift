import Foundation
import Testing
import VaultModel
import VaultTrust

/// Statements that another program wrote from the document (`Scripts/freeze-statements`), with
/// real signatures: they come out as that one says.
@Suite struct FrozenStatementsTests {
  private let lines: [[String]]
  private let trust: Trust

  init() throws {
    let fixture = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/statements/format-2")
    lines = try String(contentsOf: fixture, encoding: .utf8).split(separator: "\n")
      .map { $0.split(separator: " ").map(String.init) }
    let files = try lines.filter { $0[0] == "file" }.map { line in
      StatementFile(
        try #require(SignedLabel(rawValue: line[1])), try #require(Hex.decode(line[2])))
    }
    #expect(files.count == 15)
    let vault = try #require(VaultID(Array(0..<16)))
    trust = Trust(Statements(vault: vault, files: files))
  }

  @Test func everyStatementComesOutAsTheDocumentSays() throws {
    #expect(trust.statements.broken.isEmpty)
    #expect(trust.statements.waiting.isEmpty)
    #expect(trust.statements.sound.count == 15)
    let member = try #require(trust.members.keys.first)
    var judged = 0
    for line in lines where line[0] != "file" {
      judged += 1
      switch line[0] {
      case "link":
        let id = try #require(StatementID(hex: line[1]))
        #expect("\(try #require(trust.link(id, in: member)))" == line[2])
      case "device":
        #expect("\(trust.device(try #require(StatementID(hex: line[1]))))" == line[2])
      case "owners":
        #expect(member.hex == line[1])
        #expect(trust.access(to: member)?.owners.map(\.hex) == Array(line[2...]))
      case "head":
        let head = try #require(Hex.decode(line[2]))
        let verdict = try trust.verdict(onHead: head)
        guard case .late = verdict else {
          Issue.record("\(verdict)")
          continue
        }
        #expect(throws: TrustError.signature) {
          try trust.verdict(onHead: Array(head.dropLast()) + [0])
        }
      default: Issue.record("what is a \(line[0])?")
      }
    }
    #expect(judged == 13)
  }

  /// Every signature, one bit off: what it was under is not there any more.
  @Test func realSignaturesAreVerified() throws {
    for line in lines where line[0] == "file" {
      var bytes = try #require(Hex.decode(line[2]))
      bytes[bytes.count - 20] ^= 4
      let label = try #require(SignedLabel(rawValue: line[1]))
      let others = try lines.filter { $0[0] == "file" && $0 != line }.map { other in
        StatementFile(
          try #require(SignedLabel(rawValue: other[1])), try #require(Hex.decode(other[2])))
      }
      let damaged = StatementFile(label, bytes)
      let statements = Statements(vault: trust.statements.vault, files: others + [damaged])
      #expect(statements.broken[damaged] == .signature)
      // What was verified before is not verified again: its id is that of what was signed.
      let known = Statements(
        vault: trust.statements.vault, files: others + [damaged],
        verified: trust.statements.sound)
      #expect(known.broken.isEmpty)
    }
  }
}
