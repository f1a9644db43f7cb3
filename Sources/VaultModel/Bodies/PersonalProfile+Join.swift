extension PersonalProfile {
  /// Takes in what the profiles of other devices of this person say. The order does not matter, and twice is once.
  package mutating func join(_ others: [PersonalProfile]) {
    let all = [self] + others
    for other in others where (time, name) < (other.time, other.name) {
      (time, name) = (other.time, other.name)
    }
    people = Self.join(all.flatMap(\.people), by: \.person) { ($0.time, $0.encoded()) }
    invitations = Self.join(all.flatMap(\.invitations), by: \.id) { ($0.time, $0.encoded()) }
    members = Self.join(all.flatMap(\.members), by: \.member) { ($0.time, $0.encoded()) }
  }

  package mutating func join(_ other: PersonalProfile) { join([other]) }

  /// Of entries with one key the one of the later time, and of one time the one whose encoding is greater; sorted by key.
  private static func join<Entry, Key: Hashable & Comparable>(
    _ entries: [Entry], by key: (Entry) -> Key, rank: (Entry) -> (UInt64, [UInt8])
  ) -> [Entry] {
    var joined: [Key: Entry] = [:]
    for entry in entries {
      if let known = joined[key(entry)] {
        let (old, new) = (rank(known), rank(entry))
        if old.0 > new.0 { continue }
        if old.0 == new.0, !old.1.lexicographicallyPrecedes(new.1) { continue }
      }
      joined[key(entry)] = entry
    }
    return joined.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Takes over what somebody has changed of what this person's devices know together, and nothing else of it: each device says
  /// what its person did there. What others say would stay here after they were removed.
  package mutating func take(_ changed: PersonalProfile, over before: PersonalProfile) {
    if (changed.time, changed.name) != (before.time, before.name) {
      (time, name) = (changed.time, changed.name)
    }
    people = Self.take(changed.people, over: before.people, into: people, by: \.person)
    invitations = Self.take(
      changed.invitations, over: before.invitations, into: invitations, by: \.id)
    members = Self.take(changed.members, over: before.members, into: members, by: \.member)
  }

  private static func take<Entry: Hashable, Key: Hashable & Comparable>(
    _ changed: [Entry], over before: [Entry], into entries: [Entry], by key: (Entry) -> Key
  ) -> [Entry] {
    let news = Set(changed).subtracting(before)
    let keys = Set(news.map(key))
    return (entries.filter { !keys.contains(key($0)) } + news).sorted { key($0) < key($1) }
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
