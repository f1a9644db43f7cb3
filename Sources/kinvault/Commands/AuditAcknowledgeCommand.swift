import ArgumentParser
import Vault

struct AuditAcknowledgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "acknowledge",
    abstract: "Say that you have looked at what syncs found.",
    discussion: """
      What may be tampering is told whenever the vault is opened, until you do this. It stays in the log, and what is found \
      besides is told again. That somebody has looked is noted as well.

      Example:
        kinvault audit acknowledge
      """)

  @OptionGroup var access: AccessOptions

  func run() throws {
    try access.withVault(.writing) { vault in
      let found = try vault.state.acknowledgeTampering()
      guard !found.isEmpty else { return Terminal.writeLine("There is nothing to acknowledge.") }
      let paths = NamedPath.load(of: vault)
      var table = Table("SINCE", "LAST", "REMOTE", "WHERE", "WHAT")
      for finding in found {
        table.add([
          DateText.local(milliseconds: finding.first), DateText.local(milliseconds: finding.last),
          finding.remote, paths.text(finding.path), TamperingText.text(ofKind: finding.kind),
        ])
      }
      table.print(orElse: "")
      vault.audit.note(.acknowledge, detail: counted(found.count, "finding"))
    }
  }
}
