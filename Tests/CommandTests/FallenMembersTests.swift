import Testing
import VaultErrors

@testable import kinvault

/// What each command says of members that fell with the device that had made them.
@Suite struct FallenMembersTests {
  private func problem(_ number: Int, _ kind: Problem.Kind = .unlisted) -> Problem {
    let digits = String(number)
    let id = String(repeating: "0", count: 64 - digits.count) + digits
    return Problem(
      kind, .warning, path: "members/\(id)/root", reason: "it waits", member: "M\(number)")
  }

  @Test func isOneLineHoweverManyThereAre() {
    let many = FallenMembers(among: (0..<5000).map { problem($0) })
    #expect(many.problems.count == 5000)
    #expect(many.note == "M0, M1, M2, 4997 more, each of them: it waits")
    let two = FallenMembers(among: [problem(1), problem(2)])
    #expect(two.note == "M1, M2, each of them: it waits")
    #expect(FallenMembers(among: [problem(7)]).note == "M7: it waits")
  }

  @Test func isOfNothingElseThatWaits() {
    var quiet = problem(3)
    quiet.severity = .note
    let fallen = FallenMembers(among: [problem(1, .waiting), problem(2, .damaged), quiet])
    #expect(fallen.problems.isEmpty && fallen.note == nil)
  }
}
