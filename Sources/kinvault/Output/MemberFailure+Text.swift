import Vault
import VaultModel

extension MemberFailure {
  /// What has failed where nobody's access can be listed.
  static let ofAccess = "Who can read it cannot be told"
}

extension [MemberFailure] {
  /// Tells each in a line, with the member's name.
  ///
  /// - Parameter what: What has failed, as the beginning of a sentence that the reason ends.
  func tell(_ what: String, in vault: Vault) {
    for failure in self {
      let name = vault.member(failure.member)?.name.string ?? failure.member.shortHex
      Terminal.note(
        "kinvault: \(Terminal.visible(name)): \(what): \(FailureReport(failure.error).message)")
    }
  }
}
