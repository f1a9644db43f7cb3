import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// What was changed of a person's keys on machines that had not met, and waits for the words to join it. Docs/Format.md,
/// "Two changes of keys".
package enum DividedKeys: Hashable, Sendable {
  /// The words are the same: they join what was closed beside each other.
  case closings
  /// The words were replaced more than once, at these times by the clocks of those machines, the newest first: both are
  /// needed. Or somebody has found the old ones. `here` is when those were made that this machine goes by; nil: none.
  case words(made: [UInt64], here: UInt64?)
}

extension Person {
  /// What waits for this person's words; nil if their keys are in one piece.
  var dividedKeys: DividedKeys? {
    let claims = history.claims
    if claims.count > 1 {
      return .words(
        made: claims.map(\.made), here: claims.first { $0.key == history.lastKey }?.made)
    }
    return generation == nil ? .closings : nil
  }
}

extension Vault {
  /// What was changed of this person's keys on machines that had not met, as they were last read; nil if they are in one
  /// piece.
  package var dividedKeys: DividedKeys? { context.people[person]?.dividedKeys }

  /// What was changed of this person's keys on machines that had not met, read anew; nil if they are in one piece.
  package func readDividedKeys() throws(VaultError) -> DividedKeys? {
    try context.reloadPeople()
    return dividedKeys
  }

  /// Joins two replacements of this person's words that did not know of each other: one closing follows both, what both
  /// removed stays out, and of the two those words go on that were made last. The others endorse that, and open nothing
  /// from then on. In whichever order they are given.
  ///
  /// Nobody can do that with one of the two alone, and nobody with the words that both replaced.
  ///
  /// - Throws: `wrongWords`, `replacedWords`; `otherWords` where both are the same, or neither is what this machine goes by;
  ///   what `beginGeneration` throws.
  package func joinWords(
    _ one: borrowing RecoveryWords, _ other: borrowing RecoveryWords
  ) throws(VaultError) {
    let own = try personToClose()
    let keys = [
      one.rootSigningKey(binding: context.binding).publicKey,
      other.rootSigningKey(binding: context.binding).publicKey,
    ]
    for key in keys { try own.requireClaim(key) }
    guard let left = VerifyingKey(keys[0]), let right = VerifyingKey(keys[1]),
      let history = own.history.joining(left, right)
    else { throw .otherWords }
    let certificates = context.people.trust.statements.certificates
      .filter { $0.value.person == person }
    let joined = Person(id: person, history: history, certificates: certificates)
    if history.lastKey == left {
      try close(joined, Leaving([]), signedWith: one, endorsedBy: other)
    } else {
      try close(joined, Leaving([]), signedWith: other, endorsedBy: one)
    }
  }
}
