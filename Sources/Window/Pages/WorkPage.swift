import Vault
import VaultErrors

/// Something long: how far it is, and what came of it.
struct WorkPage {
  let frame: PageFrame
  let report: Work.Report
  let gate: any VaultGate

  private var texts: Texts { frame.texts }

  var document: String {
    frame.document(
      tag("section") {
        tag("h1") { texts("work.\(report.kind)") }
        if let outcome = report.outcome { ended(outcome) } else { running }
      })
  }

  private var running: HTML {
    let progress = report.progress
    let total = progress?.total ?? 0
    return .group([
      // Without scripts the page looks again by itself.
      tag("noscript") { tag("meta", ["http-equiv": "refresh", "content": "3"]) },
      tag("p") { texts("work.running") },
      tag(
        "progress",
        [
          "class": "work", "data-number": String(report.number),
          "aria-label": texts("work.running"),
          "max": total > 0 ? String(total) : nil,
          "value": total > 0 ? String(progress?.done ?? 0) : nil,
        ]),
    ])
  }

  private func ended(_ outcome: Work.Outcome) -> HTML {
    .group([
      result(outcome),
      tag("p") {
        report.kind == .unshare
          ? tag("a", ["href": "/people"]) { texts("people.back") }
          : tag("a", ["href": "/vault"]) { texts("work.back") }
      },
    ])
  }

  private func result(_ outcome: Work.Outcome) -> HTML {
    switch outcome {
    case .done: tag("p", ["role": "status"]) { texts("work.\(report.kind).done") }
    case .failed(let error): alert(texts.message(of: error, gate))
    case .attention(let problems):
      tag("div", ["role": "alert"]) {
        for problem in problems { problem.html(texts, namesRemote: true) }
      }
    case .leftBehind(let problems):
      .group([
        tag("p", ["role": "status"]) { texts("work.\(report.kind).done") },
        ProblemList(frame: frame, problems: problems).html,
      ])
    case .checked(let check): checked(check)
    }
  }

  private func checked(_ check: CheckReport) -> HTML {
    let grave = check.problems.filter { $0.severity > .note }
    return .group([
      tag("p", ["role": "status"]) {
        texts(
          check.hasDamage ? "check.damaged" : grave.isEmpty ? "check.whole" : "check.warnings")
      },
      tag("p", ["class": "quiet"]) {
        texts(
          "check.counts", texts.count(check.memberCount, "check.members"),
          texts.count(max(0, check.recordCount - check.memberCount), "check.records"),
          texts.count(check.objectCount, "check.objects"), texts.byteCount(check.objectByteCount))
        if check.readByteCount > 0 {
          " " + texts("check.read", texts.byteCount(check.readByteCount))
        }
        if check.awayCount > 0 { " " + texts.count(check.awayCount, "check.away") }
        if check.awayOlderCount > 0 { " " + texts.count(check.awayOlderCount, "check.awayOlder") }
      },
      check.problems.isEmpty ? .nothing : ProblemList(frame: frame, problems: check.problems).html,
      grave.isEmpty ? .nothing : tag("p") { texts("check.repair") },
    ])
  }
}
