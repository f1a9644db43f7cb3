import Rendering
import Vault
import VaultCrypto

/// What the page needs of the program around it: how this machine's vault is unlocked, and locked again.
package protocol VaultGate: Sendable {
  /// What the vault is called.
  var name: String { get }

  /// The open vault, if it is unlocked on this machine; nil where a password is needed.
  func open() throws -> Vault?

  /// The ways besides a password alone for which all seems to be here. Asks nobody.
  func ways() -> [UnlockWay]

  /// The open vault, which is unlocked from now on. Takes as long as somebody needs to touch what asks for that.
  ///
  /// - Throws: `VaultError.wrongPassword` and the like; `WrongPIN`.
  func open(_ answers: consuming UnlockAnswers) throws -> Vault

  /// Whether it is unlocked still; true where this machine cannot tell. Asking does not keep it so.
  func isUnlocked() -> Bool

  /// Somebody uses it: the time until it locks itself starts anew.
  func keepUnlocked()

  /// Has the next command ask for the password again.
  func lock()

  /// Has the mounts of the vault commit what was saved there.
  func takeInMounts()

  /// The remotes of this machine.
  func remotes(of vault: Vault) throws -> [RemoteLine]

  /// Syncs with each of them, whatever came of the others.
  ///
  /// - Returns: What did not go through, and what a person should look at.
  func sync(
    _ vault: Vault, progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws -> [RemoteProblem]

  /// What opens foreign files; nil where there is none.
  var renderer: Renderer? { get }

  /// An error in plain words.
  func message(of error: any Error) -> String
}
