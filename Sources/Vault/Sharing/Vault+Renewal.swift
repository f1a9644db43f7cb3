import VaultCrypto
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A member made anew without somebody who is lost. Docs/Format.md, "A member made anew".
package struct Renewal: Sendable {
  package let member: Member
  /// Who was given access to it, as what they are in the old one.
  package var shared: [PersonID] = []
  /// Who has access to the old one and could not be given it: they have no open keys, or their access hangs on a place that was
  /// given up twice.
  package var left: [PersonID] = []
  /// Records of which something could not be read, and is in the old one only.
  package var incomplete: [RecordID] = []
}

extension Member {
  /// Who made the member.
  package var creator: PersonID { register.links.creator }

  /// The member that this one takes the place of, as its root says; nil for most.
  package var renews: MemberID? { register.links.history.root.renews }

  /// Whether this device has made the member.
  fileprivate var isMadeHere: Bool {
    let own = context.people[context.person]?.countingCertificates(of: context.device.id) ?? []
    return own.contains { $0.id == register.links.history.root.certificate }
  }
}

extension Vault {
  /// The member here that another one takes the place of once this person accepts it; nil unless an owner of it made that.
  package func renewed(by member: Member) -> Member? {
    guard let id = member.renews, let old = self.member(id),
      old.register.links.history.isRenewed(by: member.register.links.history.root)
    else { return nil }
    return old
  }

  /// Whether the member waits for a yes, since it would take the place of another one, or was made on another device.
  func waitsAsRenewal(_ member: Member) -> Bool {
    renewed(by: member) != nil && !member.isMadeHere
  }

  /// Makes a member anew, without owners who are lost and who have been that for longer than this person, who can therefore
  /// not take them out: all that stands in it now, in a member whose first owner is this person, shared with everyone else
  /// as they have access now. Here it takes the old one's name; others accept it.
  ///
  /// What was interrupted is gone on with by the next call.
  ///
  /// - Throws: `readOnly`; `ownersOnly`; `notFound` unless the lost ones have access; `notNeeded` when this person can take
  ///   all of them out; `alreadyExists` when another owner has made it anew without them, or this person on another device
  ///   and has not accepted it here; `away`, `noSpace`.
  package func renew(
    _ old: Member, without lost: Set<PersonID>,
    progress: @escaping @Sendable (WorkProgress) -> Void = { _ in }
  ) throws(VaultError) -> Renewal {
    guard !isReadOnly else { throw .readOnly }
    try context.reloadPeople()
    try old.reloadLinks()
    let links = old.register.links
    guard old.role == .owner else { throw .ownersOnly(member: old.id) }
    try context.requireRead(links)
    for person in lost.sorted() where !links.access.includes(person) || person == self.person {
      throw .notFound(what: "access of the person \(person.shortHex)")
    }
    guard !links.history.seniors(of: person, among: lost).isEmpty else { throw .notNeeded }
    _ = try old.joinConcurrent()
    // One that somebody has who is lost leaves nobody out, as what is made with their keys.
    let renewals = openedMembers.filter {
      renewed(by: $0)?.id == old.id
        && lost.isDisjoint(with: $0.register.links.access.entitlements.keys)
    }
    // What this person has not accepted may be of a device of theirs that was stolen, and shared with anybody.
    if let other = renewals.first(where: { !$0.isOwn || isOffered($0.id) }) {
      throw .alreadyExists(what: other.id.hex)
    }
    let new: Member
    if let begun = renewals.first {
      new = begun
    } else {
      new = try addMember(named: old.name, renewing: old.id)
    }
    var renewal = Renewal(member: new)
    renewal.incomplete = try MemberCopy(from: old, to: new).run(progress)
    try share(&renewal, as: links, without: lost)
    try passName(from: old.id, to: new)
    _ = shownNames
    return renewal
  }

  /// Gives the new member to those who have access to the old one.
  private func share(
    _ renewal: inout Renewal, as links: MemberLinks, without lost: Set<PersonID>
  ) throws(VaultError) {
    for (person, given) in links.access.entitlements.keys.sorted()
      .map({ ($0, links.history.given(to: $0).first) })
    {
      guard let given, person != self.person, !lost.contains(person) else { continue }
      guard !links.access.claimed.contains(person) else {
        renewal.left.append(person)
        continue
      }
      do {
        try share(
          renewal.member, with: person, role: given.role,
          until: given.until == 0 ? nil : given.until)
        renewal.shared.append(person)
      } catch {
        switch error {
        case .alreadyExists: renewal.shared.append(person)
        case .keysDivided, .keysAwaited, .notFound: renewal.left.append(person)
        default: throw error
        }
      }
    }
  }
}

/// Puts what stands in one member now into another one, record by record under the same ids. What is there already stays.
private struct MemberCopy {
  private static let batch = 256
  let old: Member
  let new: Member
  private let contents: ContentCopy

  init(from old: Member, to new: Member) {
    (self.old, self.new) = (old, new)
    contents = ContentCopy(source: old, target: new)
  }

  /// - Returns: The records of which something is missing or damaged; what can be read of them is there.
  func run(
    _ progress: @escaping @Sendable (WorkProgress) -> Void
  ) throws(VaultError) -> [RecordID] {
    let entries = try missing()
    var incomplete: [RecordID] = []
    var done = 0
    for start in stride(from: 0, to: entries.count, by: Self.batch) {
      var edits: [RecordEdit] = []
      for entry in entries[start..<min(start + Self.batch, entries.count)] {
        guard let (edit, isWhole) = try copied(entry) else {
          incomplete.append(entry.record)
          continue
        }
        if !isWhole { incomplete.append(entry.record) }
        edits.append(edit)
        done += 1
        progress(
          WorkProgress(
            label: old.name.string, done: UInt64(done), total: UInt64(entries.count)))
      }
      if let failure = try new.commit(edits).firstFailure { throw failure }
    }
    return incomplete
  }

  /// What is to be copied. The new member's own folder is there from the beginning, without files.
  private func missing() throws(VaultError) -> [RecordEntry] {
    var missing: [RecordEntry] = []
    for entry in old.allEntries() where !entry.isDeleted {
      if let known = new.entry(entry.record) {
        guard entry.record == .root, try new.contents(of: known).0.isEmpty else { continue }
      }
      missing.append(entry)
    }
    return missing
  }

  /// The record with its files, whose contents are staged in the new member; nil if nothing of it can be read.
  private func copied(_ entry: RecordEntry) throws(VaultError) -> (RecordEdit, isWhole: Bool)? {
    let revision: RecordRevision
    let found: ReadableItems
    do {
      revision = try old.revision(entry.revision)
      found = try old.readableItems(of: revision)
    } catch {
      guard error.isDamage else { throw error }
      return nil
    }
    let isNew = entry.record != .root
    var edit = RecordEdit(
      record: entry.record, isNew: isNew, place: isNew ? revision.place : nil,
      attributes: revision.attributes)
    edit.hasAllNames = true
    var isWhole = found.gaps.isEmpty
    for var item in found.items {
      do {
        item.content = try contents.copied(item.content)
        edit.items[item.name] = item
      } catch {
        guard error.isDamage else { throw error }
        isWhole = false
      }
    }
    return (edit, isWhole)
  }
}
