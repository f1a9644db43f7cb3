import BlobStore
import Glibc
import VaultCrypto
import VaultModel

/// What a vault could not do, in terms a caller can act on.
///
/// No case carries a secret or a decrypted name; paths are those of ciphertext files inside the
/// vault folder, or of files in this machine's state directory.
package enum VaultError: Error {
  /// The folder has no readable `vault.json`.
  case notAVault(folder: String)
  /// The folder is a vault, and not the one that an invitation is for.
  case otherVault(folder: String)
  /// A text that is no invitation, or has a mistake in it.
  case badInvitation
  /// `init` was asked to make a vault in a folder that is not empty.
  case folderNotEmpty(folder: String)
  /// A part of the format that this version does not know.
  case unsupported(what: String, found: String, supported: String)
  /// The person removed this device, at this time by the clock of the one that did it: milliseconds since 1970.
  case thisDeviceRemoved(time: UInt64)
  /// A file of a device that its person removed: it counts no more.
  case signedByRemovedDevice(path: String)
  /// The 24 words were the person's, and were replaced by others at this time: milliseconds since 1970.
  case replacedWords(time: UInt64)
  /// Of two replacements of the 24 words the words of both are needed, and these are not the two.
  case otherWords
  /// This machine has no device in the vault: recover with the 24 words first.
  case noDeviceHere(vault: VaultID)
  case wrongPassword
  /// No slot of this machine is opened by a password alone.
  case passwordIsNotEnough
  /// The only way that is left to unlock the vault on this machine.
  case lastSlot
  case wrongWords
  /// What this machine's keys are unlocked with, or these themselves, is damaged; the words still open the vault.
  case damagedSlot(path: String, reason: String)
  /// A file of the vault is not what it must be, or does not count yet.
  case damaged(path: String, reason: Flaw)
  /// A file that another one names is not there.
  case missing(path: String)
  /// A chunk that a lazy vault keeps on a remote, which cannot be reached now.
  case away(path: String, reason: String)
  /// A chunk that a lazy vault left on its remotes, and that none of them has any more: each was asked, and nothing says that
  /// it may be on its way. With the record whose current version needs it, where that is known.
  case gone(path: String, record: RecordID?)
  /// The vault folder is older than what this machine has already seen of it.
  case rolledBack(path: String, found: UInt64, seen: UInt64)
  /// Another register with the same counter was seen before: two copies of one device have written.
  case forked(path: String, counter: UInt64)
  /// A head that does not go on from the one that is followed here, nor that one from it: a machine was put back to an
  /// earlier state, or copied. Both go on from the head with the counter `above`.
  case branched(path: String, above: UInt64)
  /// The person's keys were changed on two machines, neither of which knew of the other's change: nobody gives them keys
  /// until their words have joined the two.
  case keysDivided(person: PersonID)
  /// Somebody has wrapped a key for keys of the person that are not known here: what changed them has not come. It may leave
  /// out a machine, or words, that have those which are known.
  case keysAwaited(person: PersonID)
  /// Owners have let people or devices out of the member without knowing of each other. Nothing is written to it until a
  /// device of an owner has begun an epoch whose key none of those has.
  case epochSpent(member: MemberID)
  case noSpace(path: String)
  /// New keys for a member need so many bytes on the disk of this lazy vault, which has not that much room: what was left on
  /// remotes comes here for it.
  case noRoomForNewKeys(member: MemberID, byteCount: UInt64)
  case readOnly
  case permission(path: String)
  /// No key of this person opens the member's current epoch.
  case noAccess(member: MemberID)
  /// This person may read the member and not write it.
  case viewersOnlyRead(member: MemberID)
  /// Only owners of the member may do this, and this person is none.
  case ownersOnly(member: MemberID)
  /// A member has to have an owner, and this would take away the last one.
  case lastOwner(member: MemberID)
  /// This person can take those out whom they would go without.
  case notNeeded
  /// The other one has been an owner of the member for longer than this person, who cannot take that away.
  case moreSenior(person: PersonID, member: MemberID)
  /// This person's access to the member had an end, which has come.
  case accessEnded(member: MemberID)
  case notFound(what: String)
  case alreadyExists(what: String)
  /// Somebody else has changed the record that was to be changed as it was.
  case changedMeanwhile(record: RecordID)
  case limit(what: String, found: Int, limit: Int)
  /// The operating system refused; `errno` says how.
  case io(path: String, errno: Int32)
  case crypto(CryptoError)
}

extension VaultError {
  /// A store's failure in the vault's words; `notFound` becomes `missing`.
  package init(_ error: BlobStoreError) {
    switch error {
    case .notFound(let path): self = .missing(path: path)
    case .alreadyExists(let path): self = .alreadyExists(what: path)
    case .noSpace(let path): self = .noSpace(path: path)
    case .readOnly: self = .readOnly
    case .permission(let path): self = .permission(path: path)
    case .notABlob(let path):
      self = .damaged(path: path, reason: "it is no ordinary file in an ordinary folder")
    case .tooLarge(let path, let size, let limit):
      self = .damaged(path: path, reason: "it has \(size) bytes; at most \(limit) can be right")
    case .io(let path, let errno): self = .io(path: path, errno: errno)
    case .invalidPath(let text): self = .damaged(path: text, reason: "it is not a path of a vault")
    // The folder of a vault is on a disk, which has none of these to say.
    case .unreachable(let path, _): self = .io(path: path, errno: EHOSTUNREACH)
    case .timedOut(let path): self = .io(path: path, errno: ETIMEDOUT)
    case .throttled(let path): self = .io(path: path, errno: EAGAIN)
    case .denied(let path, _): self = .permission(path: path)
    case .noSuchStore(let name): self = .missing(path: name)
    case .garbled(let path, _), .unexpectedReply(let path, _, _), .endlessListing(let path, _),
      .programFailed(let path, _):
      self = .io(path: path, errno: EREMOTEIO)
    case .untrusted: self = .io(path: "", errno: EREMOTEIO)
    }
  }

  /// A file whose bytes do not decode.
  package init(_ error: ModelError, path: String) {
    self = .damaged(path: path, reason: "\(error)")
  }

  /// A file that does not authenticate.
  package init(_ error: CryptoError, path: String) {
    self = .damaged(path: path, reason: "\(error.message)")
  }
}

extension VaultError {
  /// A file that does not count yet, though nothing of it is damaged.
  ///
  /// - Parameter condition: What has to be true first, such as "its link has come".
  package static func waiting(_ path: VaultPath, until condition: String) -> VaultError {
    .damaged(path: path.string, reason: .waiting(until: condition))
  }

  /// Whether this says that a file waits for something else: nothing of it has to be mended.
  package var isWaiting: Bool {
    if case .damaged(_, .waiting) = self { true } else { false }
  }

  /// Whether this says that a device made the member which its person has left out, and that no closing lists it.
  package var isOfUnlistedMember: Bool {
    if case .damaged(_, .unlisted) = self { true } else { false }
  }

  /// Whether what was read is not as it must be, or not there: another copy of it may be. Whoever can do without that one
  /// file goes on; every other error concerns the whole, such as a disk that does not answer.
  package var isDamage: Bool {
    switch self {
    case .damaged, .missing: true
    default: false
    }
  }

  /// Whether it says nothing of what was to be read: a disk did not answer or is full, say, too many files are open, or this user
  /// may not read it. Read again, it may be whole, so nobody may go on as if it were not there.
  package var isOfTheMachine: Bool {
    switch self {
    case .io, .noSpace, .permission: true
    default: false
    }
  }

  /// Whether a signed file does not hold, since it is damaged or missing, or since its device has been removed.
  package var isOfBrokenFile: Bool {
    if case .signedByRemovedDevice = self { true } else { isDamage }
  }
}

/// A store's call, whose failure is said in the vault's words: `try storing(store.list(folder))`.
package func storing<Value: ~Copyable>(
  _ call: @autoclosure () throws(BlobStoreError) -> Value
) throws(VaultError) -> Value {
  do { return try call() } catch { throw VaultError(error) }
}

/// Several calls of a store, the failure of any of which is said in the vault's words.
package func storing<Value: ~Copyable>(
  _ body: () throws(BlobStoreError) -> Value
) throws(VaultError) -> Value {
  do { return try body() } catch { throw VaultError(error) }
}

/// What a call reads; nil where something of it is missing or damaged: `try ifWhole(load(path))`.
package func ifWhole<Value>(
  _ call: @autoclosure () throws(VaultError) -> Value
) throws(VaultError) -> Value? {
  do { return try call() } catch {
    guard error.isDamage else { throw error }
    return nil
  }
}

/// What several calls read; nil where something of it is missing or damaged.
package func ifWhole<Value>(_ body: () throws(VaultError) -> Value) throws(VaultError) -> Value? {
  try ifWhole(try body())
}
