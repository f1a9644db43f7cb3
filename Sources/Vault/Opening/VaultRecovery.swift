import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

extension Vault {
  /// Makes this machine a new device of the person whose words these are, with a new password.
  ///
  /// A device that this machine had before stays certified, but its slot here is replaced.
  ///
  /// - Returns: The key that unlocks the new device.
  /// - Throws: `wrongWords` when they are nobody's in this vault, or do not open the recovery slot; `replacedWords` when
  ///   they were someone's.
  package static func recover(
    _ copy: VaultCopy, words: borrowing RecoveryWords, device new: NewDevice,
    password: borrowing SecretBytes
  ) throws(VaultError) -> DeviceUnlockKey {
    let (binding, state) = (copy.binding, copy.state)
    var memory = try state.loadPeopleMemory()
    var people = try People.load(store: copy.store, files: copy.files, memory: memory)
    let chosen = choosing(people, by: words, memory, binding: binding)
    if let chosen {
      memory = chosen
      people = try People.load(store: copy.store, files: copy.files, memory: memory)
    }
    let found = try findPerson(of: words, in: people, binding: binding)
    // Whichever words are typed here first are those that this machine goes by.
    if chosen != nil { try state.remember(people, own: found.id, wraps: [:]) }
    let person = try joinKeys(of: found, words: words, in: copy, memory)
    guard let generation = person.generation else { throw .keysDivided(person: person.id) }
    let master = try person.openRecoverySlot(of: generation, words: words, binding: binding)
    let enrolment = DeviceEnrolment(copy: copy, person: person.id)
    let prepared = try enrolment.prepare(new, password: password)
    let key = words.rootSigningKey(binding: binding)
    try enrolment.certify(
      PublicDevice(prepared.device, of: person.id, binding: binding), master: master,
      generation: generation, approval: nil
    ) { key.sign($0) }
    try enrolment.writeRegister(
      of: prepared.device, saying: DeviceProfile(new),
      keys: PersonKeys(
        master: master, generation: generation, in: person.history.valid, binding: binding),
      beside: person)
    return prepared.takeUnlockKey()
  }

  /// The person whose words these are.
  ///
  /// - Throws: `wrongWords`; `replacedWords` when they were someone's, and are no more; `damaged` when the closings of
  ///   the person that the words name are.
  private static func findPerson(
    of words: borrowing RecoveryWords, in people: People, binding: Binding
  ) throws(VaultError) -> Person {
    let key = words.rootSigningKey(binding: binding).publicKey
    // The person is the hash of the words that they had first.
    let first = PersonID(rootPublicKey: key)
    let signed = people.persons.values.filter { person in
      person.history.valid.values.contains { $0.rootKey.bytes == key }
    }
    if let person = people[first] ?? signed.min(by: { $0.id < $1.id }) {
      try person.requireLast(key)
      return person
    }
    let folder = "people/\(first.hex)/"
    if let broken = people.problems.first(where: {
      $0.severity == .damage && $0.path.hasPrefix(folder)
    }) {
      throw .damaged(path: broken.path, reason: .broken(broken.reason))
    }
    throw .wrongWords
  }

  /// What this machine remembers once words have said by which of several replacements it goes; nil where they need not.
  ///
  /// Whoever has seen neither cannot tell whose they are; whoever types them can.
  private static func choosing(
    _ people: People, by words: borrowing RecoveryWords, _ memory: PeopleMemory, binding: Binding
  ) -> PeopleMemory? {
    guard let key = VerifyingKey(words.rootSigningKey(binding: binding).publicKey) else {
      return nil
    }
    for person in people.persons.values {
      guard let line = person.history.line(of: key) else { continue }
      var chosen = memory
      chosen.note(line, of: person.id, in: people)
      return chosen
    }
    return nil
  }

  /// The person with one open generation: what two machines have closed beside each other is joined, nobody left out.
  private static func joinKeys(
    of person: Person, words: borrowing RecoveryWords, in copy: VaultCopy, _ memory: PeopleMemory
  ) throws(VaultError) -> Person {
    guard person.generation == nil else { return person }
    let writer = ClosingWriter(
      copy.files, in: copy.store, clock: copy.clock, person: person, device: nil, memory: memory)
    _ = try writer.run(ClosingWriter.Content(), signedWith: words, endorsedBy: words) {
      (path, bytes) throws(VaultError) in try copy.files.store(bytes, at: path, in: copy.store)
    }
    let people = try People.load(store: copy.store, files: copy.files, memory: memory)
    guard let joined = people[person.id] else { throw .keysDivided(person: person.id) }
    return joined
  }

  /// Sees whether these are this person's words and open their recovery slots. Takes as long as a recovery, changes
  /// nothing.
  ///
  /// - Throws: `wrongWords` when they are not, `replacedWords` when they were; `damaged` when a slot is.
  package func testWords(_ words: borrowing RecoveryWords) throws(VaultError) {
    try context.reloadPeople()
    let own = try context.ownPerson()
    try own.requireLast(words.rootSigningKey(binding: context.binding).publicKey)
    for tip in own.history.tips {
      _ = try own.openRecoverySlot(of: tip, words: words, binding: context.binding)
    }
  }
}
