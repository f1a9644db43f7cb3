import Threads
import Vault
import VaultCrypto

/// The vault while the page may show it: opened once, used by any number of requests, closed when it is locked. Safe to use
/// from any thread.
final class Desk: Sendable {
  /// Nobody may see anything now.
  struct Locked: Error {}

  private struct State {
    var vault: OpenVault?
    var useCount = 0
    /// Nothing is begun any more.
    var isLocked = false
    var isClosing = false
    var lastUse = ContinuousClock.now
  }

  let gate: any VaultGate
  private let state = Monitor(State())

  init(_ gate: any VaultGate) { self.gate = gate }

  /// Whether there is a vault to be shown.
  var isOpen: Bool { state.withLock { $0.vault != nil && !$0.isLocked } }
  var isLocked: Bool { state.withLock { $0.isLocked } }
  var version: UInt64? { state.withLock { $0.isLocked ? nil : $0.vault }?.version }
  /// When a person last wanted something.
  var lastUse: ContinuousClock.Instant { state.withLock { $0.lastUse } }

  func noteUse() {
    state.withLock { $0.lastUse = .now }
    gate.keepUnlocked()
  }

  /// Opens the vault if this machine has it unlocked.
  func open() throws { if let vault = try gate.open() { try take(vault) } }

  func open(_ answers: consuming UnlockAnswers) throws {
    try take(try gate.open(answers))
  }

  private func take(_ vault: Vault) throws {
    let opened = try OpenVault(vault, gate)
    let isTaken = state.withLock { state in
      guard state.vault == nil, !state.isLocked else { return false }
      state.vault = opened
      state.lastUse = .now
      return true
    }
    // Two tabs had the same idea.
    if !isTaken { try vault.close() }
  }

  /// Runs the body with the vault, which stays open meanwhile.
  ///
  /// - Throws: `Locked`; what `body` throws.
  func use<Value>(_ body: (OpenVault) throws -> Value) throws -> Value {
    let vault: OpenVault? = state.withLock { state in
      guard !state.isLocked, let vault = state.vault else { return nil }
      state.useCount += 1
      return vault
    }
    guard let vault else { throw Locked() }
    defer { state.change { $0.useCount -= 1 } }
    return try body(vault)
  }

  /// Nothing is shown from now on. What runs may take its time: `end` waits for it.
  func refuse() { state.withLock { $0.isLocked = true } }

  /// Shows nothing from now on, and returns when what runs has come to its end and the vault is closed.
  ///
  /// - Parameter locksMachine: Whether commands ask for the password as well from now on; else the vault stays as unlocked as
  ///   it is on this machine.
  /// - Throws: What closing throws; it is closed all the same.
  func end(locksMachine: Bool = false) throws {
    if locksMachine { gate.lock() }
    let isFirst = state.withLock { state in
      defer { (state.isLocked, state.isClosing) = (true, true) }
      return !state.isClosing
    }
    if isFirst { try close() }
  }

  private func close() throws {
    let vault: OpenVault? = state.wait { state in
      guard state.useCount == 0 else { return .wait }
      defer { state.vault = nil }
      return .answer(state.vault)
    }
    try vault?.vault.close()
  }
}
