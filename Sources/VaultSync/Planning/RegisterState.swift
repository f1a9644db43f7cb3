import VaultModel

/// One state of a register, or (with counter 0) a statement: how far its writer had counted, and which file it is.
package struct RegisterState: Hashable, Sendable {
  package var counter: UInt64
  package var hash: FileHash

  package init(counter: UInt64, hash: FileHash) {
    self.counter = counter
    self.hash = hash
  }
}
