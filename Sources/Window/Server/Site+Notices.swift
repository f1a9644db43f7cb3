import Hummingbird
import Vault
import VaultModel

/// What somebody is told once, until they say that they have seen it.
extension Site {
  func addNotices(to router: Router<PageContext>) {
    router.post("notices/seen") { request, context in
      try await ask(request, context) { open, _, form in
        let state = open.vault.state
        // What was found since is told first.
        guard try form["count"] == String(state.tampering().open.count) else {
          return .seeOther("/")
        }
        open.forgetNotes()
        let found = try state.acknowledgeTampering()
        if !found.isEmpty {
          open.vault.audit.note(.acknowledge, detail: "\(found.count) findings")
        }
        return .seeOther("/")
      }
    }
  }
}
