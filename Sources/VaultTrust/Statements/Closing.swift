import VaultModel

/// A person's words close what was open and open a generation of keys: `people/…/closings/<id>`.
package struct Closing: Hashable, Sendable {
  package var person: PersonID
  package var follows: [StatementID]
  /// Of the words that sign this.
  package var rootKey: VerifyingKey
  package var endorsements: [Endorsement]
  /// Of the generation that begins: what others wrap keys for.
  package var agreementKey: [UInt8]
  package var recovery: [UInt8]
  /// The certificates of the devices that stay.
  package var stay: [StatementID]
  /// What departing devices signed or agreed to that goes on counting.
  package var counted: [StatementID]
  /// The lists of what departing devices had signed in records, each of one member.
  package var authored: [ContentDigest]
  /// Leavings of this person that they take back: nobody else would have stayed, so they did.
  package var retracted: [StatementID]
  /// For each of `follows`, its master key under this generation's history key.
  package var past: [[UInt8]]
  package var time: UInt64

  /// A root key names the one that takes over from it.
  package struct Endorsement: Hashable, Sendable {
    package var rootKey: VerifyingKey
    package var signature: [UInt8]

    package init(rootKey: VerifyingKey, signature: [UInt8]) {
      self.rootKey = rootKey
      self.signature = signature
    }
  }

  package init(
    person: PersonID, follows: [StatementID] = [], rootKey: VerifyingKey,
    endorsements: [Endorsement] = [], agreementKey: [UInt8] = [], recovery: [UInt8] = [],
    stay: [StatementID] = [], counted: [StatementID] = [], authored: [ContentDigest] = [],
    retracted: [StatementID] = [], past: [[UInt8]] = [], time: UInt64 = 0
  ) {
    self.person = person
    self.follows = follows.sorted()
    self.rootKey = rootKey
    self.endorsements = endorsements
    self.agreementKey = agreementKey
    self.recovery = recovery
    self.stay = stay.sorted()
    self.counted = counted.sorted()
    self.authored = authored.sorted()
    self.retracted = retracted.sorted()
    self.past = past
    self.time = time
  }

  /// What an old root key signs to name the one that takes over.
  package static func endorsementBody(
    person: PersonID, from old: VerifyingKey, to new: VerifyingKey
  ) -> [UInt8] {
    person.bytes + old.bytes + new.bytes
  }
}
