import Testing
import VaultErrors

@testable import kinvault

/// What is said to be done about what a check found.
struct CheckAdviceTests {
  private func row(_ kind: Problem.Kind, _ severity: Problem.Severity) -> CheckPrint.ProblemRow {
    CheckPrint.ProblemRow(
      kind: kind.rawValue, severity: severity.rawValue, path: "members", reason: "why",
      isOnlyInHistory: false)
  }

  /// "What to do:" has something below it.
  @Test(arguments: Problem.Kind.allCases, [Problem.Severity.warning, .damage])
  func everyProblemHasItsAdvice(kind: Problem.Kind, severity: Problem.Severity) {
    for isRepaired in [false, true] {
      let advice = CheckAdvice(
        problems: [row(kind, severity)], remote: "usb", isRepaired: isRepaired)
      #expect(!advice.paragraphs.isEmpty)
      #expect(advice.paragraphs.allSatisfy { $0.hasPrefix("  ") && !$0.hasSuffix("\n") })
    }
  }

  @Test func adviceIsGivenOnceAndOnEachOfSeveral() {
    let found = [row(.parted, .warning), row(.untrusted, .warning), row(.unfinished, .warning)]
    let all = CheckAdvice(problems: found, remote: "usb", isRepaired: false).paragraphs
    #expect(all.count == 2 && all[0].contains("not trusted"), "\(all)")
    #expect(all[1] == "  What else there is to do stands with each problem above.")
    let lost = CheckAdvice(
      problems: [row(.damaged, .damage), row(.missing, .warning)], remote: "usb", isRepaired: false
    ).paragraphs
    #expect(lost.count == 2 && lost[0].contains("--repair --remote usb"), "\(lost)")
    #expect(lost[1].contains("kinvault check --repair goes on"), "\(lost)")
  }

  /// What a device has written last of a member comes with a sync.
  @Test func ofALostHeadASyncIsNamedFirst() {
    var head = row(.missing, .damage)
    let digits = String(repeating: "0a", count: 32)
    head.path = "members/\(digits)/heads/\(digits)"
    let lost = CheckAdvice(problems: [head], remote: "usb", isRepaired: false).paragraphs
    #expect(lost.count == 3 && lost[0].contains("kinvault sync"), "\(lost)")
    #expect(lost[1].contains("--repair --remote usb"), "\(lost)")
    head.kind = Problem.Kind.damaged.rawValue
    let damaged = CheckAdvice(problems: [head], remote: "usb", isRepaired: false).paragraphs
    #expect(damaged.allSatisfy { !$0.contains("kinvault sync") }, "\(damaged)")
  }
}
