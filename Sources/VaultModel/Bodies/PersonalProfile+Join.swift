extension PersonalProfile {
  /// Takes in what the profile of another device of this person says. The order does not matter, and twice is once.
  package mutating func join(_ other: PersonalProfile) {
    if (time, name) < (other.time, other.name) { (time, name) = (other.time, other.name) }
    people = Self.join(people, other.people, by: \.person) { ($0.time, $0.encoded()) }
    invitations = Self.join(invitations, other.invitations, by: \.id) {
      ($0.time, $0.encoded())
    }
    members = Self.join(members, other.members, by: \.member) { ($0.time, $0.encoded()) }
  }

  /// The same with several, those first that say least, as far as there is room: whoever has one of the person's devices can have it
  /// say as much as its register holds, and what the others say is to have room beside.
  package mutating func join(_ others: [PersonalProfile]) {
    let sized = others.map { (byteCount: $0.encoded().count, profile: $0) }
    for other in sized.sorted(by: { $0.byteCount < $1.byteCount }) {
      var both = self
      both.join(other.profile)
      if both == self { continue }
      if both.encoded().count <= max(Limits.profileBytes, encoded().count) { self = both }
    }
  }

  /// Of entries with one key the one of the later time, and of one time the one whose encoding is greater; sorted by key.
  private static func join<Entry, Key: Hashable & Comparable>(
    _ left: [Entry], _ right: [Entry], by key: (Entry) -> Key, rank: (Entry) -> (UInt64, [UInt8])
  ) -> [Entry] {
    var joined: [Key: Entry] = [:]
    for entry in left + right {
      if let known = joined[key(entry)] {
        let (old, new) = (rank(known), rank(entry))
        if old.0 > new.0 { continue }
        if old.0 == new.0, !old.1.lexicographicallyPrecedes(new.1) { continue }
      }
      joined[key(entry)] = entry
    }
    return joined.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Notes what is known of a person, in the place of what was.
  package mutating func note(_ acquaintance: Acquaintance) {
    Self.put(acquaintance, into: &people, by: \.person, time: \.time)
  }

  package mutating func note(_ invitation: OpenInvitation) {
    Self.put(invitation, into: &invitations, by: \.id, time: \.time)
  }

  package mutating func note(_ name: MemberName) {
    Self.put(name, into: &members, by: \.member, time: \.time)
  }

  /// Puts an entry in the place of the one of its key, and later than that, however far ahead the clock was by which it was
  /// written: else the next join would take it back.
  private static func put<Entry, Key: Equatable>(
    _ new: Entry, into entries: inout [Entry], by key: (Entry) -> Key,
    time: WritableKeyPath<Entry, UInt64>
  ) {
    let before = entries.filter { key($0) == key(new) }.map { $0[keyPath: time] }.max()
    entries.removeAll { key($0) == key(new) }
    var entry = new
    if let before { entry[keyPath: time] = max(new[keyPath: time], Limits.time(after: before)) }
    entries.append(entry)
  }

  /// When it was told that the member shows under this title, in milliseconds since 1970; nil if it was not, or another one
  /// took the name.
  package func time(of member: MemberID, titled title: FileName) -> UInt64? {
    members.first { $0.member == member && $0.title == title }?.time
  }

  /// The same with what is shown here: what nobody has told of a member, or told when it was called otherwise.
  package func untold(_ shown: [MemberID: FileName]) -> [MemberID: FileName] {
    let told = Dictionary(members.map { ($0.member, $0.title) }) { first, _ in first }
    return shown.filter { member, title in
      guard let known = told[member] else { return true }
      return known.map { $0 != title } ?? false
    }
  }
}
