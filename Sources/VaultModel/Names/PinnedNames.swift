/// The names under which members show on a machine: once a member shows under a name, no other one takes that name from it.
///
/// Members of one title are told apart by a part of the id. Which of them has the bare title must not depend on ids alone:
/// whoever shares a member chooses its title, and as many ids as they care to compute.
/// Docs/Format.md, "This machine's state", `shown`.
package struct PinnedNames: Hashable, Sendable {
  private struct Pin: Hashable {
    /// What the member was called when it got the name.
    var title: FileName
    var name: FileName
  }

  private var pins: [MemberID: Pin] = [:]
  /// What members that were not here had, when somebody here gave the name to another one.
  private var former: [MemberID: Pin] = [:]

  package init() {}

  /// What the member shows as, or did when it was here, also where another one has that name by now; nil for one that never was.
  package func name(of member: MemberID) -> FileName? { (pins[member] ?? former[member])?.name }

  /// Those that show under their own titles.
  package var titles: [MemberID: FileName] {
    pins.filter { $0.value.name == $0.value.title }.mapValues(\.title)
  }

  /// What the members of these titles show as. One that is new, or has another title than before, gets the title unless
  /// a member has that name, here or not; then the beginning of its id stands behind it. Of several new ones those come
  /// first that show so on other machines of this person, the earliest first, then those that this person made, then all by
  /// ids.
  ///
  /// - Parameter told: When each was first told to show under this title on a machine of this person.
  package mutating func names(
    of titles: [MemberID: FileName], own: Set<MemberID>, told: [MemberID: UInt64] = [:]
  ) -> [MemberID: FileName] {
    for (id, title) in titles where pins[id]?.title != title { pins[id] = nil }
    var taken = Set(pins.values.map(\.name))
    func rank(_ id: MemberID) -> (UInt64, Int, MemberID) {
      (told[id] ?? .max, own.contains(id) ? 0 : 1, id)
    }
    let fresh = titles.filter { pins[$0.key] == nil }.sorted { rank($0.key) < rank($1.key) }
    for (id, title) in fresh {
      let others = VisibleNames.candidates(title, id)
      let name = taken.contains(title) ? others.first { !taken.contains($0) } : title
      guard let name else { preconditionFailure("the candidates have no end") }
      taken.insert(name)
      pins[id] = Pin(title: title, name: name)
      former[id] = nil
    }
    return pins.filter { titles[$0.key] != nil }.mapValues(\.name)
  }

  /// This person has given the member this name, by making it or by moving it there: whichever is not among `present` and
  /// had it has to do without. That one is still known by it, while it is not here.
  package mutating func free(_ name: FileName, for member: MemberID, present: Set<MemberID>) {
    pins[member] = nil
    for (id, pin) in pins where pin.name == name && !present.contains(id) {
      pins[id] = nil
      former[id] = pin
    }
  }

  /// A member that was made anew takes the name of the old one, which is the title of both; the old one shows with a part
  /// of its id from then on. If the old one has another name, as when an earlier renewal took it, nothing changes.
  package mutating func pass(from old: MemberID, to new: MemberID, title: FileName) {
    guard let pin = pins[old], pin.name == pin.title, pin.title == title else { return }
    pins[new] = pin
    pins[old] = nil
  }

  // MARK: Bytes

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    for (field, pins) in [(1, pins), (2, former)] {
      for (id, pin) in pins.sorted(by: { $0.key < $1.key }) {
        writer.message(field) { writer in
          writer.id(1, id)
          writer.fileName(2, pin.title)
          writer.fileName(3, pin.name)
        }
      }
    }
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(ModelError) {
    self = try WireReader.read(bytes, what: "names of members", limit: .max) {
      (reader) throws(ModelError) in
      var names = PinnedNames()
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1):
          let (id, pin) = try Self.pin(&reader)
          names.pins[id] = pin
        case .bytes(2):
          let (id, pin) = try Self.pin(&reader)
          names.former[id] = pin
        default: _ = try reader.skip(tag)
        }
      }
      return names
    }
  }

  private static func pin(_ whole: inout WireReader) throws(ModelError) -> (MemberID, Pin) {
    var reader = try whole.message("name of a member")
    var id: MemberID?
    var title: FileName?
    var name: FileName?
    while let tag = try reader.next() {
      switch tag {
      case .bytes(1): id = try reader.id("member")
      case .bytes(2): title = try reader.fileName("title")
      case .bytes(3): name = try reader.fileName("name")
      default: _ = try reader.skip(tag)
      }
    }
    guard let id, let title, let name else { throw reader.malformed("a field is missing") }
    return (id, Pin(title: title, name: name))
  }
}
