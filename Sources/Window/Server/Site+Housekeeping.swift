import HTTPTypes
import Hummingbird
import HummingbirdCore
import Vault
import VaultModel

/// What concerns the vault as a whole: its remotes, this person's devices, checks, what was done.
extension Site {
  func addHousekeeping(to router: Router<PageContext>) {
    addVault(to: router.group("vault"))
    router.get("journal") { request, context in
      let values = FormValues(request.uri.query ?? "")
      var wish = JournalPage.Wish()
      wish.member = values.given("member").flatMap { MemberID(hex: $0) }
      wish.offset = values["from"].flatMap { Int($0) }.map { min(max(0, $0), 10_000_000) } ?? 0
      return try await show(context) { [wish] in
        .page(try JournalPage.load($0.vault, wish, $1).document)
      }
    }
  }

  private func addVault(to vault: RouterGroup<PageContext>) {
    vault.get { _, context in
      try await show(context) { .page(try VaultPage.load($0, $1).document) }
    }
    vault.post("sync") { request, context in
      try await ask(request, context) { _, frame, _ in
        begin(.sync, frame) { open, progress in
          let problems = try open.sync(progress)
          return problems.isEmpty ? .done : .attention(problems)
        }
      }
    }
    vault.post("check") { request, context in
      try await ask(request, context) { _, frame, form in
        let readsData = form["reads"] == "yes"
        return begin(.check, frame) { open, progress in
          .checked(try open.vault.check(readsData: readsData, progress: progress))
        }
      }
    }
    vault.post("name") { request, context in
      try await change(request, context) { open, frame, form in
        let name = form["name"]?.trimmed ?? ""
        guard DeviceName.isGood(name) else {
          var page = try VaultPage.load(open, frame)
          page.problem = frame.texts("devices.badName")
          return .page(page.document, status: .unprocessableContent)
        }
        try open.vault.renameDevice(to: name)
        open.vault.audit.note(.write, detail: "device rename")
        return .seeOther("/vault")
      }
    }
    vault.get("work") { _, context in
      try await show(context) { _, frame in
        guard let report = work.report else { return .seeOther("/vault") }
        return .page(WorkPage(frame: frame, report: report, gate: desk.gate).document)
      }
    }
  }

  /// Begins something long, and leads to where it can be watched.
  func begin(
    _ kind: Work.Kind, _ frame: PageFrame,
    _ body: @escaping @Sendable (OpenVault, @escaping Work.Progress) throws -> Work.Outcome
  ) -> Response {
    guard work.begin(kind, body) else {
      return .page(frame.problem(frame.texts("work.busy")), status: .conflict)
    }
    return .seeOther("/vault/work")
  }
}
