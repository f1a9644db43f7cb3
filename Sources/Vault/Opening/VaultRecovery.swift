import BlobStore
import VaultCrypto
import VaultModel

import struct SystemPackage.FilePath

extension Vault {
  /// Makes this machine a new device of the person whose words these are, with a new password.
  ///
  /// A device that this machine had before stays certified, but its slot here is replaced.
  ///
  /// - Returns: The key that unlocks the new device.
  /// - Throws: `wrongWords` when they are nobody's in this vault, or do not open the recovery slot; `replacedWords` when
  ///   they were someone's.
  package static func recover(
    folder: FilePath, stateRoot: FilePath, words: borrowing RecoveryWords, device new: NewDevice,
    password: borrowing SecretBytes, clock: WallClock = .system
  ) throws(VaultError) -> DeviceUnlockKey {
    let store: DirectoryStore
    do { store = try DirectoryStore(opening: folder) } catch {
      throw .notAVault(folder: folder.string)
    }
    let id = try describe(store: store, folder: folder.string).vault
    let state = try StateFolder(root: stateRoot, vault: id)
    return try recover(
      id: id, store: store, state: state, words: words, device: new, password: password,
      clock: clock)
  }

  /// `recover` on any store.
  static func recover(
    id: VaultID, store: any LocalStore, state: StateFolder, words: borrowing RecoveryWords,
    device new: NewDevice, password: borrowing SecretBytes, clock: WallClock
  ) throws(VaultError) -> DeviceUnlockKey {
    let binding = Binding(vault: id)
    let files = SignedFiles(store: store, binding: binding)
    let identity = try findIdentity(of: words, store: store, files: files)
    let master = try openRecoverySlot(identity, words: words, binding: binding)
    let enrolment = DeviceEnrolment(
      vault: id, store: store, files: files, state: state, person: identity.person,
      generation: identity.generation, clock: clock)
    let prepared = try enrolment.prepare(new, password: password)
    let identityKey = master.identitySigningKey(binding: binding, generation: identity.generation)
    try enrolment.certify(
      PublicDevice(prepared.device), master: master, identityKey: identityKey)
    try enrolment.writeRegister(
      prepared.device, new,
      keys: PersonKeys(master: master, identity: identity, binding: binding))
    return prepared.takeUnlockKey()
  }

  /// The identity of the person whose words these are.
  ///
  /// - Throws: `wrongWords`; `replacedWords` when they were someone's, and are no more; `damaged` when the identity of
  ///   the person that the first words name is.
  private static func findIdentity(
    of words: borrowing RecoveryWords, store: any LocalStore, files: SignedFiles
  ) throws(VaultError) -> IdentityBody {
    let rootKey = words.rootSigningKey(binding: files.binding).publicKey
    do throws(VaultError) {
      let (identity, _) = try People.loadIdentity(PersonID(rootPublicKey: rootKey), files: files)
      try identity.requireNewest(rootKey)
      return identity
    } catch {
      guard case .missing = error else { throw error }
    }
    // The person is the hash of the words that they had first.
    let folders = try storing { () throws(BlobStoreError) in try store.list("people") }
    for folder in folders {
      guard let person = PersonID(hex: folder.name) else { continue }
      let identity: IdentityBody
      do throws(VaultError) { (identity, _) = try People.loadIdentity(person, files: files) } catch
      {
        continue
      }
      guard identity.rootKeys.contains(rootKey) else { continue }
      try identity.requireNewest(rootKey)
      return identity
    }
    throw .wrongWords
  }

  /// Sees whether these are this person's words and open their recovery slot. Takes as long as a recovery, changes nothing.
  ///
  /// - Throws: `wrongWords` when they are not, `replacedWords` when they were; `damaged` when the identity is.
  package func testWords(_ words: borrowing RecoveryWords) throws(VaultError) {
    let (identity, _) = try People.loadIdentity(person, files: context.signedFiles)
    try identity.requireNewest(words.rootSigningKey(binding: context.binding).publicKey)
    _ = try Self.openRecoverySlot(identity, words: words, binding: context.binding)
  }

  private static func openRecoverySlot(
    _ identity: IdentityBody, words: borrowing RecoveryWords, binding: Binding
  ) throws(VaultError) -> MasterKey {
    let slot = identity.recovery
    let path = VaultPath.identity(identity.person).string
    let cost = Argon2Cost(passes: slot.passes, memoryKiB: slot.memoryKiB)
    let master: MasterKey
    do {
      let seed = try words.seed(salt: slot.salt, cost: cost)
      master = try MasterKey.unwrap(slot.wrappedMasterKey, seed: seed, binding: binding)
    } catch {
      switch error {
      case .costOutOfRange: throw VaultError(error, path: path)
      default: throw .wrongWords
      }
    }
    // The slot is signed, so this only fails for a vault made by broken software.
    let signing = master.identitySigningKey(binding: binding, generation: identity.generation)
    guard signing.publicKey == identity.signingPublicKey else {
      throw .damaged(path: path, reason: "its recovery slot holds another key")
    }
    return master
  }
}
