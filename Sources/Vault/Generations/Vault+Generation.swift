import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// New generations of this person's keys. Docs/Format.md, "Changing keys".
extension Vault {
  /// Removes devices of this person: what is written or re-encrypted from here on is not for them.
  ///
  /// What they have written stands in this device's heads before they are removed, and what they signed that counts is
  /// listed. Durable when it returns; a crash before that leaves the generation that was, and its devices. The members'
  /// keys are another step: their owners begin new epochs.
  ///
  /// - Parameter words: This person's.
  /// - Throws: `wrongWords`, `replacedWords`; `notFound` for a device that is none of this person's; `readOnly`, `noSpace`,
  ///   `io`; what reading and writing the members throws.
  package func beginGeneration(
    removing devices: Set<DeviceID>, words: borrowing RecoveryWords
  ) throws(VaultError) {
    try beginGeneration(Leaving(devices), words: words)
  }

  /// Removes devices of this person, and goes without what they have signed since a time.
  package func beginGeneration(
    _ leaving: Leaving, words: borrowing RecoveryWords
  ) throws(VaultError) {
    precondition(!leaving.devices.contains(device), "a device does not remove itself")
    try beginGeneration(leaving, signedWith: words, endorsedBy: words)
  }

  /// Replaces this person's words: the old ones open nothing that is written or re-encrypted from here on, and sign
  /// nothing that anyone takes who has seen the new ones.
  ///
  /// - Throws: As `beginGeneration(removing:words:)`.
  package func replaceWords(
    _ old: borrowing RecoveryWords, with new: borrowing RecoveryWords
  ) throws(VaultError) {
    try beginGeneration(Leaving([]), signedWith: new, endorsedBy: old)
  }

  private func beginGeneration(
    _ leaving: Leaving, signedWith words: borrowing RecoveryWords,
    endorsedBy old: borrowing RecoveryWords
  ) throws(VaultError) {
    let own = try personToClose()
    try own.requireLast(old.rootSigningKey(binding: context.binding).publicKey)
    try close(own, leaving, signedWith: words, endorsedBy: old)
  }

  /// This person as they are now, if this device may change their keys.
  ///
  /// - Throws: `readOnly`, `thisDeviceRemoved`.
  func personToClose() throws(VaultError) -> Person {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    if let removal = context.removal { throw removal }
    try context.requireRead([person])
    return try context.ownPerson()
  }

  /// Writes a closing that follows what counts in `own`, unless another process has changed that meanwhile.
  ///
  /// - Parameter listing: Statements of devices that were left out before, which are to count from now on.
  func close(
    _ own: Person, _ leaving: Leaving, listing statements: Set<StatementID> = [],
    signedWith words: borrowing RecoveryWords, endorsedBy old: borrowing RecoveryWords
  ) throws(VaultError) {
    guard leaving.devices.isSubset(of: Set(own.devices.keys).union(own.waiting.keys)) else {
      throw .notFound(what: "a device of yours among those to remove")
    }
    let withoutRoom = own.devicesWithoutRoom(besides: leaving.devices, at: device)
    let going = Leaving(leaving.devices.union(withoutRoom), since: leaving.since)
    try own.requireRoom(without: going.devices)
    let tips = try context.ownPerson().history.tips
    do { try keepWhatWasLearned() } catch {
      // A copied machine that has to become a device of its own writes no head before the words have joined its keys,
      // which is what this is.
      guard leaving.devices.isEmpty, case .keysDivided = error else { throw error }
    }
    var content = try closingContent(of: going, withoutRoom: withoutRoom)
    content.counted += statements.sorted()
    try passOn(passedOn(by: going.devices))
    guard try context.ownPerson().history.tips == tips else { throw Self.closedMeanwhile }
    for (number, part) in content.parts().enumerated() {
      if number == 0 {
        try writeClosing(part, over: own, signedWith: words, endorsedBy: old)
      } else {
        try writeClosing(part, over: context.ownPerson(), signedWith: words, endorsedBy: words)
      }
    }
    try renewRegister()
  }

  /// What closings say that leave devices out. What those without room have signed is listed first, since these go first. Where
  /// this person stayed, as all owners of a member had left, any closing says so.
  func closingContent(
    of going: Leaving, withoutRoom: Set<DeviceID>
  ) throws(VaultError) -> ClosingWriter.Content {
    var content = ClosingWriter.Content(removing: going.devices, withoutRoom: withoutRoom)
    for devices in [withoutRoom, going.devices.subtracting(withoutRoom)] {
      let leaving = Leaving(devices, since: going.since)
      content.counted += try countedStatements(of: leaving).sorted()
      content.authored += try listAuthored(of: leaving)
    }
    let departing = certificates(of: going.devices)
    content.retracted = members.flatMap {
      $0.register.links.history.stayed(by: person, besides: departing)
    }.sorted()
    return content
  }

  private static let closedMeanwhile = VaultError.alreadyExists(
    what: "a newer generation of your keys")

  private func writeClosing(
    _ content: ClosingWriter.Content, over own: Person, signedWith words: borrowing RecoveryWords,
    endorsedBy old: borrowing RecoveryWords
  ) throws(VaultError) {
    let tips = try context.ownPerson().history.tips
    let writer = ClosingWriter(
      context.signedFiles, in: context.store, clock: context.clock, person: own,
      device: context.device, memory: try context.state.loadPeopleMemory())
    _ = try writer.run(content, signedWith: words, endorsedBy: old) {
      (path, bytes) throws(VaultError) in
      try context.state.withCommitLock { () throws(VaultError) in
        try context.reloadPeople()
        guard try context.ownPerson().history.tips == tips else { throw Self.closedMeanwhile }
        try context.signedFiles.store(bytes, at: path, in: context.store)
      }
    }
    try context.reloadPeople()
  }

  /// Writes this device's register anew, for those only who have the keys of the newest generation.
  ///
  /// Invitations of before are withdrawn: whoever was removed knows their secrets.
  func renewRegister() throws(VaultError) {
    let began =
      context.people[person].flatMap { $0.history.valid[context.keys.generation]?.time } ?? 0
    try changePersonalProfile { profile in
      for open in profile.invitations where open.secret != nil && open.created <= began {
        var withdrawn = open
        (withdrawn.secret, withdrawn.time) = (nil, began)
        profile.note(withdrawn)
      }
    }
  }

  /// What these devices of this person have signed that counts, and goes on counting when they are left out: members,
  /// links, and the answer to an invitation. Only links can be disowned: a member that falls would take along what everybody
  /// has written in it. Where a place was given up twice it is what stands, until somebody has said which end is true.
  private func countedStatements(
    of leaving: Leaving
  ) throws(VaultError) -> Set<StatementID> {
    let people = context.people
    let departing = certificates(of: leaving.devices)
    var counted: Set<StatementID> = []
    if departing.isEmpty { return counted }
    // Somebody may have taken the whole folder of one away: what is not listed falls there as well.
    let entries = try storing(context.store.list("members"))
    let here = entries.compactMap { MemberID(hex: $0.name) }
    for id in try context.state.rememberedMembers().union(here) {
      do throws(VaultError) {
        // By what counted here, whatever lies in the folder by now: by that the member is open.
        let links = try context.opening(of: id).loadLinks()
        // What is not listed falls for everybody.
        if let error = links.unread.values.first { throw error }
        let history = links.history
        if departing.contains(history.root.certificate) { counted.insert(id.root) }
        let signed = history.lasting(signedBy: departing)
        counted.formUnion(signed.subtracting(leaving.disowned(of: signed, history)))
      } catch {
        // Of what does not hold nothing counts.
        guard error.isOfBrokenFile else { throw error }
      }
    }
    do {
      let answer = try IntroductionBody.load(person, files: context.signedFiles, people: people)
      if departing.contains(answer.body.certificate) { counted.insert(answer.id) }
    } catch {
      guard error.isOfBrokenFile else { throw error }
    }
    return counted
  }
}
