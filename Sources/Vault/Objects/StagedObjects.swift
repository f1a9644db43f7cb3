import VaultModel

/// The objects that no commit has yet, and how many users each has. A value without I/O.
///
/// A user is known by the number of what it uses, not by the name alone: equal content that is staged again after a
/// commit has taken it is another object, which users of the former one cannot let go of.
struct StagedObjects: Sendable {
  /// Where the sealed file of an object is.
  enum Place: Sendable {
    /// In memory: a small object.
    case memory([UInt8])
    /// In the staging folder.
    case folder
    /// In the staging folder too, as a link to an object that was in its place already.
    case link

    var heldByteCount: Int? { if case .memory(let bytes) = self { bytes.count } else { nil } }
  }

  struct Entry: Sendable {
    let number: UInt64
    let kind: ObjectKind
    var place: Place
    var userCount = 1
    /// The commit under way has brought it to its place. Should that commit fail, nothing keeps it there.
    var isPublished = false
  }

  private var entries: [ObjectName: Entry] = [:]
  private var lastNumber: UInt64 = 0
  /// What the commit under way has brought to its place, in order.
  private(set) var published: [ObjectName] = []
  /// What commits of this process have made durable, as far back as it remembers.
  private(set) var settled: Set<ObjectName> = []
  private static let settledLimit = 1 << 16
  /// Objects whose file a thread is bringing to the staging folder, to count it when it is whole.
  private var arriving: Set<ObjectName> = []
  /// Objects in the staging folder that had no user when they were looked at last.
  private var unused: Set<ObjectName> = []

  /// The object, unless a commit has brought it to its place.
  subscript(name: ObjectName) -> Entry? {
    guard let entry = entries[name], !entry.isPublished else { return nil }
    return entry
  }

  var count: Int { entries.count }

  /// Counts one more user of an object that is there; returns its number, nil if it is not there.
  mutating func use(_ name: ObjectName) -> UInt64? {
    entries[name]?.userCount += 1
    return entries[name]?.number
  }

  /// Whose it is to bring an object's file to the staging folder.
  enum Turn {
    /// It is there; this is its number.
    case staged(UInt64)
    /// Another thread's.
    case waits
    /// The caller's, until `endTurn`.
    case begins
  }

  /// Counts one more user of an object that is there, or gives the turn to one thread at a time.
  mutating func takeTurn(_ name: ObjectName) -> Turn {
    if let number = use(name) { return .staged(number) }
    return arriving.insert(name).inserted ? .begins : .waits
  }

  mutating func endTurn(_ name: ObjectName) { arriving.remove(name) }

  /// Takes in an object that was just put there, with one user more; returns its number, and how many bytes are no
  /// longer needed in memory as another thread had held the same content.
  mutating func add(
    _ name: ObjectName, _ kind: ObjectKind, in place: Place
  ) -> (number: UInt64, freed: Int?) {
    if let number = use(name) {
      let freed = entries[name]?.place.heldByteCount
      entries[name]?.place = place
      entries[name]?.isPublished = false
      return (number, freed)
    }
    lastNumber += 1
    entries[name] = Entry(number: lastNumber, kind: kind, place: place)
    return (lastNumber, nil)
  }

  /// A user is gone; returns how many bytes are no longer needed in memory.
  mutating func endUse(of name: ObjectName, number: UInt64) -> Int? {
    guard let entry = entries[name], entry.number == number else { return nil }
    entries[name]?.userCount -= 1
    guard entry.userCount == 1, !entry.isPublished else { return nil }
    if let freed = entry.place.heldByteCount {
      entries[name] = nil
      return freed
    }
    unused.insert(name)
    return nil
  }

  /// An object turned out to be lost: whoever stages the same content next has it written anew.
  mutating func forget(_ name: ObjectName) {
    entries[name] = nil
    unused.remove(name)
  }

  /// Forgets the objects that nobody uses; returns those whose files are to be removed.
  mutating func takeUnused() -> [ObjectName] {
    let names = unused.filter { self[$0]?.userCount == 0 }
    for name in names { entries[name] = nil }
    unused = []
    return Array(names)
  }

  // MARK: The commit under way

  mutating func markPublished(_ name: ObjectName) {
    guard self[name] != nil else { return }
    entries[name]?.isPublished = true
    published.append(name)
  }

  /// The commit is done, and with it what it has brought to its place; returns the sizes of what was in memory.
  mutating func settle() -> [Int] {
    defer { published = [] }
    if settled.count > Self.settledLimit { settled = [] }
    settled.formUnion(published)
    return published.compactMap { name in
      guard let entry = entries[name], entry.isPublished else { return nil }
      entries[name] = nil
      return entry.place.heldByteCount
    }
  }

  /// The commit failed, or leaves out what it has brought to its place since `position`: that is staged again as far as
  /// it is used.
  ///
  /// - Parameter link: Has the staging folder hold an object that is in its place; false where that cannot be. Then the
  ///   object is left in its place.
  /// - Returns: The sizes of what is not needed in memory any more.
  mutating func restage(from position: Int, link: (ObjectName) -> Bool) -> [Int] {
    defer { published.removeSubrange(position...) }
    return published[position...].compactMap { name in
      guard var entry = entries[name], entry.isPublished else { return nil }
      let isHeld = entry.place.heldByteCount != nil
      guard entry.userCount > 0, isHeld || link(name) else {
        entries[name] = nil
        return entry.place.heldByteCount
      }
      if !isHeld { entry.place = .link }
      entry.isPublished = false
      entries[name] = entry
      return nil
    }
  }
}

/// One user's hold on an object that no commit has yet: the object is not discarded before all of these are gone. Once
/// a commit has the object it means nothing more.
package final class ObjectUse: Sendable {
  package let name: ObjectName
  private let number: UInt64
  private let store: ObjectStore

  init(_ name: ObjectName, number: UInt64, in store: ObjectStore) {
    self.name = name
    self.number = number
    self.store = store
  }

  // No I/O happens here: what nobody uses any more is removed by `ObjectStore.removeUnused`.
  deinit { store.endUse(of: name, number: number) }
}
