import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople

extension Vault {
  /// Makes the one who was invited a person of the vault, with words and keys of their own, and this machine their first
  /// device.
  ///
  /// Where nothing is yet, the copy becomes one that has nothing but the new person, to be synced. Durable when it returns.
  ///
  /// - Parameters:
  ///   - copy: Of the vault that the invitation is for.
  ///   - words: Seen by the person before.
  /// - Throws: `alreadyExists` when this machine has a device in the vault; `permission`, `readOnly`, `noSpace`, `io`.
  package static func join(
    _ invitation: Invitation, in copy: VaultCopy, device: NewDevice,
    password: borrowing SecretBytes, words: consuming RecoveryWords
  ) throws(VaultError) -> CreatedVault {
    guard try !copy.state.hasDevice() else {
      throw .alreadyExists(what: "a device of this machine")
    }
    let inviter = Acquaintance(
      person: invitation.inviter, name: invitation.inviterName, verification: .invitedInPerson,
      time: copy.clock.milliseconds())
    let made = try PersonCreation(copy: copy).run(
      device, password: password, words: words, knowing: [inviter])
    try introduce(made, name: device.personName, invitation, in: copy)
    let description = BlobPath(VaultPath.vault.string)
    try storing { () throws(BlobStoreError) in
      guard try copy.store.size(of: description) == nil else { return }
      try copy.store.replace(
        description, VaultDescription(vault: invitation.vault).encoded(), durably: true)
    }
    return CreatedVault(id: invitation.vault, words: words, unlockKey: made.unlockKey)
  }

  private static func introduce(
    _ made: borrowing PersonCreation.Made, name: String, _ invitation: Invitation,
    in copy: VaultCopy
  ) throws(VaultError) {
    let files = copy.files
    let path = VaultPath.introduction(made.person)
    let secret = InvitationSecret(invitation.secret)
    let key = secret.sealingKey(inviter: invitation.inviter, binding: files.binding)
    let body = IntroductionBody(
      person: made.person, certificate: made.certificate,
      invitation: secret.id(binding: files.binding), time: copy.clock.milliseconds(),
      sealed: files.seal(
        Introduction(name: name).encoded(), with: key, .introduction, path, counter: 0))
    try files.store(
      files.sign(body.encoded(), .introduction, path, with: made.device), at: path, in: copy.store)
  }
}
