import Vault
import VaultErrors
import VaultModel

/// What happened while nobody had the keys, what syncs have found that may be tampering, and what is noted of reading from now
/// on: it stands above the records until somebody says that they have seen it.
struct Notices {
  let frame: PageFrame
  /// With what somebody has tried in vain to unlock the vault.
  private let refused: [AuditEvent]
  /// Of which members openings of files are noted from now on, or no more.
  private let reads: [ReadsNews]
  private let findings: [TamperingMemory.Finding]
  private let memberNames: [MemberID: String]

  private var texts: Texts { frame.texts }

  /// - Throws: What reading throws.
  static func load(_ open: OpenVault, _ frame: PageFrame) throws(VaultError) -> Notices {
    let names = open.vault.shownNames
    return Notices(
      frame: frame,
      refused: try open.vault.audit.notedWithoutKeys()
        .filter { $0.action == AuditAction.refused.rawValue },
      reads: try open.vault.readsNews(),
      findings: try open.vault.state.tampering().open,
      memberNames: Dictionary(
        uniqueKeysWithValues: open.vault.members.map { ($0.id, (names[$0.id] ?? $0.name).string) }))
  }

  /// Nothing where there is nothing to be told.
  var html: HTML {
    guard !refused.isEmpty || !reads.isEmpty || !findings.isEmpty else { return .nothing }
    return tag("section", ["class": "notices", "role": "alert"]) {
      attempts
      for news in reads {
        tag("p") {
          texts(
            news.areNoted ? "notice.reads.on" : "notice.reads.off",
            memberNames[news.member] ?? "")
        }
      }
      tampering
      frame.post("/notices/seen") {
        tag("input", ["type": "hidden", "name": "shown", "value": Self.mark(of: findings)])
        tag("button", ["type": "submit"]) { texts("notice.seen") }
      }
    }
  }

  /// Which findings were shown, as a form has it.
  static func mark(of findings: [TamperingMemory.Finding]) -> String {
    "\(findings.count).\(findings.map(\.first).max() ?? 0)"
  }

  private var attempts: HTML {
    guard let first = refused.map(\.time).min() else { return .nothing }
    let kinds = Dictionary(grouping: refused) { Self.kind(of: $0.detail) }
    let counts = kinds.sorted { $0.key < $1.key }.map { kind, events in
      texts.count(
        events.reduce(0) { $0 + max(1, Int($1.count)) }, "notice.refused.\(kind)")
    }
    return tag("p") {
      texts("notice.refused", texts.time(milliseconds: first), counts.joined(separator: ", "))
    }
  }

  /// What was wrong, as the key of a text.
  private static func kind(of detail: String) -> String {
    switch detail {
    case "password", "words": detail
    // "token" until 2026, of a TPM as well.
    case "PIN", "token": "pin"
    default: "other"
    }
  }

  private var tampering: HTML {
    guard let first = findings.map(\.first).min() else { return .nothing }
    let remotes = Dictionary(grouping: findings, by: \.remote)
    return .group([
      tag("p") { texts("notice.tampering", texts.time(milliseconds: first)) },
      tag("ul") {
        for (remote, found) in remotes.sorted(by: { $0.key < $1.key }) {
          for kind in Set(found.map { RemoteProblem.Kind(ofFinding: $0.kind).rawValue }).sorted() {
            tag("li") {
              named(remote)
              ": "
              texts("remotes.problem.\(kind)")
            }
          }
        }
      },
    ])
  }
}
