// The names and ids of the format: Docs/Format.md, "Names and ids".

/// Names a vault; random, chosen once by `init`.
package struct VaultID: FixedBytes {
  package let storage: Bytes16
  package init(storage: Bytes16) { self.storage = storage }
}

/// Names a person: the hash of their first root public key.
package struct PersonID: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Names a device: the hash of its public keys.
package struct DeviceID: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Names a family member: the hash of the member's root statement.
package struct MemberID: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Names a record; random, except a member's root record, whose id is all zeros.
package struct RecordID: FixedBytes {
  package let storage: Bytes16
  package init(storage: Bytes16) { self.storage = storage }

  /// The record that is the member's own directory in the mounted view.
  package static let root = RecordID.zero
}

/// Names a file of a record; two names with one file id are hard links.
package struct FileID: FixedBytes {
  package let storage: Bytes16
  package init(storage: Bytes16) { self.storage = storage }
}

/// Tells a content from any other: a hash of its kind and of it, the same in every epoch.
package struct ContentDigest: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Names an object: the HMAC, under the name key of its epoch, of the digest of its content.
package struct ObjectName: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Tells which epoch's key seals a file, without naming the epoch.
package struct KeyID: FixedBytes {
  package let storage: Bytes8
  package init(storage: Bytes8) { self.storage = storage }
}

/// Tells which invitation an introduction answers.
package struct InvitationID: FixedBytes {
  package let storage: Bytes8
  package init(storage: Bytes8) { self.storage = storage }
}

/// Names a process that keeps redo files; random.
package struct RedoWriterID: FixedBytes {
  package let storage: Bytes8
  package init(storage: Bytes8) { self.storage = storage }
}

/// The SHA-256 of a file's bytes as stored.
package struct FileHash: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Tells whose journal a slot of an audit segment is of, for whoever has the key.
package struct JournalTag: FixedBytes {
  package let storage: Bytes8
  package init(storage: Bytes8) { self.storage = storage }
}

/// Names a statement: the SHA-256 of what is signed, so that its envelope is no part of it.
package struct StatementID: FixedBytes {
  package let storage: Bytes32
  package init(storage: Bytes32) { self.storage = storage }
}

/// Names a way in which this machine unlocks the vault; random.
package struct UnlockSlotID: FixedBytes {
  package let storage: Bytes16
  package init(storage: Bytes16) { self.storage = storage }
}
