import VaultErrors
import VaultModel

/// What keeps one member from something that is done of all.
package struct MemberFailure: Sendable {
  package let member: MemberID
  package let error: VaultError

  package init(_ member: MemberID, _ error: VaultError) {
    (self.member, self.error) = (member, error)
  }
}

extension [MemberFailure] {
  /// For whoever cannot go on where something has failed of any member.
  ///
  /// - Throws: The first of them.
  package func requireNone() throws(VaultError) {
    if let failure = first { throw failure.error }
  }
}

/// What came of something that is done of all members: what fails of one keeps no other from it.
package struct MemberByMember<Value: Sendable>: Sendable {
  /// Of the members for which there was something.
  package internal(set) var values: [Value] = []
  package internal(set) var failures: [MemberFailure] = []

  /// - Throws: The first failure, when everything else was done.
  package func get() throws(VaultError) -> [Value] {
    try failures.requireNone()
    return values
  }

  /// Runs `body`, which adds what it did as it goes, and keeps what it throws.
  mutating func add(
    _ member: Member, _ body: (inout [Value]) throws(VaultError) -> Void
  ) {
    do { try body(&values) } catch {
      failures.append(MemberFailure(member.id, error))
    }
  }
}
