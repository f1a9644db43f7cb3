import BlobStore
import TestSupport
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault

/// What the programs do on machines that it has, which know as little as it lets them.
extension Intruder {
  mutating func runProgram(in house: Household) throws {
    guard let machine = pick(machines) else { return }
    machine.clock.set(house.now + 700)
    let isStranger = machine.number == machines[0].number
    if isStranger || chance(2) {
      // A machine that does not hear of people's changes of keys does not know that it is out.
      try show(seen.files, to: machine, withPeople: isStranger || chance(4))
    }
    do {
      try misuse(machine, house)
    } catch let error as VaultError {
      trace.append("  \(machine.name) cannot: \("\(error)".prefix(60))")
    }
    noteKeys(of: machine)
    noteUnsentHeads(of: machine, house)
    for (path, bytes) in machine.store.blobs.sorted(by: { $0.key.string < $1.key.string })
    where seen.files[path] != bytes && !path.string.hasPrefix("staging") {
      try put(path, bytes, in: house)
    }
  }

  /// Records that honest people wrote on the machine and never sent come to others with it: to those who have not heard that
  /// it is out.
  private mutating func noteUnsentHeads(of machine: Household.Machine, _ house: Household) {
    let holder = KeyHolder.machine(machine.number)
    for (path, bytes) in machine.store.blobs where seen.files[path] != bytes {
      guard case .head(let member, machine.vault.device) = VaultPath(parsing: path.string) else {
        continue
      }
      noteRecords(of: member, by: holder, in: house)
      for entry in machine.vault.openedMembers.first(where: { $0.id == member })?.allEntries() ?? []
      where entry.device == machine.vault.device {
        noteTouched(entry.record, of: member, by: holder, in: house)
      }
    }
  }

  private func show(
    _ files: [BlobPath: [UInt8]], to machine: Household.Machine, withPeople: Bool
  ) throws {
    let own = machine.vault.device
    for (path, bytes) in files where withPeople || !path.string.hasPrefix("people/") {
      switch VaultPath(parsing: path.string) {
      case .head(_, own), .device(_, own), nil: continue
      default: break
      }
      if machine.store.blobs[path] == nil || path.string.contains("/heads/") {
        do throws(BlobStoreError) {
          try machine.store.replace(path, bytes, durably: true)
        } catch {
          // A file stands where a folder should, of its own making.
          continue
        }
      }
    }
    do {
      _ = try machine.vault.refreshMembers()
      for member in machine.vault.openedMembers { _ = try member.refresh() }
    } catch {
      // It is told that it is out, which is no matter to who has its keys.
    }
  }

  private mutating func misuse(_ machine: Household.Machine, _ house: Household) throws {
    let vault = machine.vault
    let member = pick(vault.openedMembers.sorted { $0.id < $1.id })
    let person = chance(2) ? pick(people.sorted()) : pick(house.persons)
    guard let member, let person, !chance(12) else { return try makeMember(vault, house) }
    trace.append("  \(machine.name) goes on with \(member.name.string)")
    let choice = number(below: 11)
    if choice < 6, !mayWriteRecords(of: member.id, by: .machine(machine.number), in: house) {
      return
    }
    switch choice {
    case 0..<2:
      let text = forgery()
      try write(.newRecord(text, note: text), in: member)
    case 2..<5:
      guard let entry = someEntry(of: member) else { return }
      noteTouched(entry.record, of: member.id, by: .machine(machine.number), in: house)
      var edit = RecordEdit(record: entry.record)
      edit.items[.record] = .note(forgery())
      try write(edit, in: member)
    case 5:
      guard let entry = someEntry(of: member), isOutOfEverything(machine, member, house) else {
        return
      }
      noteTouched(entry.record, of: member.id, by: .machine(machine.number), in: house)
      let place = RecordPlace(parent: entry.parent, title: entry.title, isDeleted: true)
      try write(RecordEdit(record: entry.record, place: place), in: member)
    case 6: try vault.share(member, with: person, role: .owner)
    case 7: try vault.beginEpoch(of: member, without: person == vault.person ? [] : [person])
    case 8:
      if person != vault.person { try vault.offerPlace(in: member, to: person) }
      for offer in try vault.offeredPlaces() where offer.taker == vault.person {
        try vault.agree(to: offer)
      }
      _ = try vault.tendHandOvers().get()
    case 9: _ = try vault.collect(keepDays: 0, acceptsClock: true, isDryRun: false)
    default: try makeMember(vault, house)
    }
  }

  /// Whether nobody would miss what the machine takes away.
  private func isOutOfEverything(
    _ machine: Household.Machine, _ member: Member, _ house: Household
  ) -> Bool { house.lost.contains { $0.number == machine.number } }

  private mutating func someEntry(of member: Member) -> RecordEntry? {
    pick(
      member.allEntries().filter { $0.record != .root && !$0.isDeleted }
        .sorted { $0.record < $1.record })
  }

  /// What a program does that was changed so that it writes whatever its person may.
  private func write(_ edit: RecordEdit, in member: Member) throws {
    try member.heads.withLock { heads in
      var writer = CommitWriter(member: member, heads: heads)
      try writer.add([edit])
      _ = try writer.finish()
      heads = writer.heads
    }
  }

  /// A member of its own under a name that is known, for everyone.
  private mutating func makeMember(_ vault: Vault, _ house: Household) throws {
    guard let name = FileName(chance(2) ? "Emma" : "Liam"),
      !vault.members.contains(where: { $0.name == name && $0.isOwn })
    else { return }
    trace.append("  \(vault.person.shortHex) makes a member \(name.string)")
    let member = try vault.addMember(named: name)
    for person in house.persons where person != vault.person {
      try vault.share(member, with: person, role: .owner)
    }
    let text = forgery()
    _ = try member.commit([.newRecord(text, note: text)])
  }
}
