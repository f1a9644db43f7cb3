import Rendering
import Vault
import VaultCrypto
import VaultErrors

@testable import Window

/// A machine whose vault is never opened.
struct ClosedGate: VaultGate {
  var name: String { "Family" }
  var renderer: Renderer? { nil }
  func open() -> Vault? { nil }
  func ways() -> [UnlockWay] { [] }
  func open(_ answers: consuming UnlockAnswers) throws -> Vault { throw VaultError.wrongPassword }
  func isUnlocked() -> Bool { true }
  func keepUnlocked() {}
  func lock() {}
  func takeInMounts() {}
  func remotes(of vault: Vault) -> [RemoteLine] { [] }
  func sync(
    _ vault: Vault, progress: @escaping @Sendable (WorkProgress) -> Void
  ) -> [RemoteProblem] { [] }
  func message(of error: any Error) -> String { "\(error)" }
}
