import Hummingbird
import Vault
import VaultModel

/// What somebody is told once, until they say that they have seen it.
extension Site {
  func addNotices(to router: Router<PageContext>) {
    router.post("notices/seen") { request, context in
      try await ask(request, context) { open, _, form in
        let (vault, state) = (open.vault, open.vault.state)
        // What was found since is told first.
        guard try form["shown"] == Notices.mark(of: state.tampering().open) else {
          return .seeOther("/")
        }
        // From now on it was told, and stays in the log.
        _ = try vault.audit.takeIn()
        _ = try vault.takeReadsNews()
        let found = try state.acknowledgeTampering()
        if !found.isEmpty {
          vault.audit.note(.acknowledge, detail: "\(found.count) findings")
        }
        return .seeOther("/")
      }
    }
  }
}
