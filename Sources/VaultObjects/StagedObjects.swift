import VaultModel

/// The objects that no commit has yet, and how many users each has. A value without I/O.
///
/// A user is known by the number of what it uses, not by the digest alone: equal content that is staged again after a
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
    /// Under which keys it is sealed; another epoch may be in use by now.
    let sealed: ObjectPlace
    var place: Place
    /// How many barriers had failed before its file was written.
    let failedBarriers: UInt64
    var userCount = 1
    /// The commit under way has brought it to its place. Should that commit fail, nothing keeps it there.
    var isPublished = false
  }

  private var entries: [ContentDigest: Entry] = [:]
  private var lastNumber: UInt64 = 0
  /// What the commit under way has brought to its place, in order.
  private(set) var published: [ContentDigest] = []
  /// What commits of this process have made durable, as far back as it remembers.
  private(set) var settled: Set<ObjectName> = []
  private static let settledLimit = 1 << 16
  /// Objects whose file a thread is bringing to the staging folder, to count it when it is whole, or is removing from there.
  private var arriving: Set<ContentDigest> = []
  /// Objects in the staging folder that had no user when they were looked at last.
  private var unused: Set<ContentDigest> = []

  /// The object, unless a commit has brought it to its place.
  subscript(digest: ContentDigest) -> Entry? {
    guard let entry = entries[digest], !entry.isPublished else { return nil }
    return entry
  }

  var count: Int { entries.count }

  /// Counts one more user of an object that is there; returns its number, nil if it is not there.
  mutating func use(_ digest: ContentDigest) -> UInt64? {
    entries[digest]?.userCount += 1
    return entries[digest]?.number
  }

  /// Whose it is to bring an object's file to the staging folder, or to remove it there.
  enum Turn {
    /// It is there; this is its number.
    case staged(UInt64)
    /// Another thread's.
    case waits
    /// The caller's, until `endTurn`.
    case begins
  }

  /// Counts one more user of an object that is there, or gives the turn to one thread at a time.
  mutating func takeTurn(_ digest: ContentDigest) -> Turn {
    if let number = use(digest) { return .staged(number) }
    return arriving.insert(digest).inserted ? .begins : .waits
  }

  mutating func endTurn(_ digest: ContentDigest) { arriving.remove(digest) }

  /// Takes in an object that was just put there, with one user more; returns its number, and how many bytes are no
  /// longer needed in memory as another thread had held the same content.
  mutating func add(
    _ digest: ContentDigest, _ kind: ObjectKind, _ sealed: ObjectPlace, in place: Place,
    since failures: UInt64
  ) -> (number: UInt64, freed: Int?) {
    let known = entries[digest]
    let number = use(digest) ?? lastNumber + 1
    lastNumber = max(lastNumber, number)
    entries[digest] = Entry(
      number: number, kind: kind, sealed: sealed, place: place, failedBarriers: failures,
      userCount: entries[digest]?.userCount ?? 1)
    return (number, known?.place.heldByteCount)
  }

  /// A user is gone; returns how many bytes are no longer needed in memory.
  mutating func endUse(of digest: ContentDigest, number: UInt64) -> Int? {
    guard let entry = entries[digest], entry.number == number else { return nil }
    entries[digest]?.userCount -= 1
    guard entry.userCount == 1, !entry.isPublished else { return nil }
    if let freed = entry.place.heldByteCount {
      entries[digest] = nil
      return freed
    }
    unused.insert(digest)
    return nil
  }

  /// An object turned out to be lost: whoever stages the same content next has it written anew.
  mutating func forget(_ digest: ContentDigest) {
    entries[digest] = nil
    unused.remove(digest)
  }

  /// Forgets the objects that nobody uses; returns those whose files are to be removed. It is the caller's turn with each of
  /// them until `endTurn`, so that nobody stages the same content again in between.
  mutating func takeUnused() -> [(digest: ContentDigest, name: ObjectName)] {
    let taken = unused.compactMap { digest -> (digest: ContentDigest, name: ObjectName)? in
      guard let entry = self[digest], entry.userCount == 0 else { return nil }
      entries[digest] = nil
      arriving.insert(digest)
      return (digest, entry.sealed.name)
    }
    unused = []
    return taken
  }

  // MARK: The commit under way

  mutating func markPublished(_ digest: ContentDigest) {
    guard self[digest] != nil else { return }
    entries[digest]?.isPublished = true
    published.append(digest)
  }

  /// What these are called in their places.
  var publishedNames: [ObjectName] { published.compactMap { entries[$0]?.sealed.name } }

  /// The commit is done, and with it what it has brought to its place; returns the sizes of what was in memory.
  mutating func settle() -> [Int] {
    defer { published = [] }
    if settled.count > Self.settledLimit { settled = [] }
    settled.formUnion(publishedNames)
    return published.compactMap { digest in
      guard let entry = entries[digest], entry.isPublished else { return nil }
      entries[digest] = nil
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
    return published[position...].compactMap { digest in
      guard var entry = entries[digest], entry.isPublished else { return nil }
      let isHeld = entry.place.heldByteCount != nil
      guard entry.userCount > 0, isHeld || link(entry.sealed.name) else {
        entries[digest] = nil
        return entry.place.heldByteCount
      }
      if !isHeld { entry.place = .link }
      entry.isPublished = false
      entries[digest] = entry
      return nil
    }
  }
}

/// One user's hold on an object that no commit has yet: the object is not discarded before all of these are gone. Once
/// a commit has the object it means nothing more.
package final class ObjectUse: Sendable {
  package let digest: ContentDigest
  private let number: UInt64
  private let store: ObjectStore

  init(_ digest: ContentDigest, number: UInt64, in store: ObjectStore) {
    self.digest = digest
    self.number = number
    self.store = store
  }

  // No I/O happens here: what nobody uses any more is removed by `ObjectStore.removeUnused`.
  deinit { store.endUse(of: digest, number: number) }
}
