import BlobStore
import MachineState
import VaultErrors
import VaultModel
import VaultTrust

/// The closings and certificates that this machine has seen count, and the wraps of its own person's keys.
///
/// It only grows. What it holds stands whether the vault's folder has it or not, and is put back into a folder that
/// lacks it: so a backup that is put back takes back no removal. Docs/Format.md, "This machine's state".
package struct PeopleMemory: Hashable, Sendable {
  package private(set) var files: [VaultPath: [UInt8]] = [:]

  /// What strangers write is remembered up to so many bytes; what is this person's own, and of those for whom they vouch,
  /// always is.
  static let limit = 16 << 20

  /// The closings that counted.
  var closings: Set<StatementID> {
    Set(
      files.keys.compactMap { path in
        if case .closing(_, let id) = path { id } else { nil }
      })
  }

  /// Statements whose signatures were verified before.
  var verified: Set<StatementID> {
    Set(
      files.keys.compactMap { path in
        switch path {
        case .closing(_, let id), .certificate(_, let id): id
        default: nil
        }
      })
  }

  package init() {}

  /// Takes what counts now of people. The files themselves are of `people`, verified.
  ///
  /// - Parameter known: Of whom all of it is kept.
  /// - Returns: Whether something was left out.
  @discardableResult
  mutating func note(_ people: People, known: Set<PersonID>) -> Bool {
    var byteCount = files.values.reduce(0) { $0 + $1.count }
    var isCut = false
    for (path, bytes) in people.files where files[path] == nil {
      guard let person = people.personOfLasting(path) else { continue }
      guard known.contains(person) || byteCount + bytes.count <= Self.limit else {
        isCut = true
        continue
      }
      byteCount += bytes.count
      files[path] = bytes
    }
    return isCut
  }

  /// Takes these closings of a person whom nothing remembered tells apart, and who chose them with their words.
  package mutating func note(_ closings: Set<StatementID>, of person: PersonID, in people: People) {
    for id in closings {
      let path = VaultPath.closing(person, id)
      files[path] = files[path] ?? people.files[path]
    }
  }

  /// Takes a wrap that was found to be right.
  mutating func note(_ wraps: [VaultPath: [UInt8]]) {
    files.merge(wraps) { _, new in new }
  }

  // MARK: Encoding

  func encoded() -> [UInt8] { RememberedFiles(files: files).encoded() }

  init(decoding file: [UInt8]) throws(ModelError) {
    files = try RememberedFiles(decoding: file, what: "memory of people").files
  }
}

extension People {
  /// Whose statement it is, if it counts, or is of a device that was left out: that will not change. Else nil.
  fileprivate func personOfLasting(_ path: VaultPath) -> PersonID? {
    switch path {
    case .closing(let person, let id):
      // With one that could not be read just now there may be several that do not know of each other.
      guard let history = self[person]?.history, !history.isContested,
        history.counting.contains(id), unread(of: person) == nil
      else { return nil }
      return person
    case .certificate(let person, let id):
      guard let history = self[person]?.history, !history.isContested else { return nil }
      switch trust.device(id) {
      case .counts, .former: return person
      case .waiting, .unknown: return nil
      }
    default: return nil
    }
  }
}

extension StateFolder {
  private static let peoplePath: BlobPath = "people"

  /// What this machine has seen count of everyone; empty on a new one.
  ///
  /// - Throws: `damaged` when it is not as it was written; without it a removal could be taken back.
  package func loadPeopleMemory() throws(VaultError) -> PeopleMemory {
    guard let file = try readIfThere(Self.peoplePath, limit: .max) else { return PeopleMemory() }
    do { return try PeopleMemory(decoding: file) } catch {
      throw .damagedMemory(error, path: describe(Self.peoplePath))
    }
  }

  /// Adds to it, on disk when this returns.
  ///
  /// - Returns: Whether there was no room for something of people for whom nobody was known to vouch.
  @discardableResult
  package func remember(
    _ people: People, own: PersonID, wraps: [VaultPath: [UInt8]]
  ) throws(VaultError) -> Bool {
    try withLock("people-lock") { () throws(VaultError) in
      let before = try loadPeopleMemory()
      var memory = before
      memory.note(wraps)
      if memory.note(people, known: [own]) {
        let vouched = try loadVouching(of: own)?.people ?? []
        memory.note(people, known: Set(vouched).union([own]))
      }
      if memory != before {
        let bytes = memory.encoded()
        try storing(store.replace(Self.peoplePath, bytes, durably: true))
      }
      return !people.files.keys.allSatisfy {
        memory.files[$0] != nil || people.personOfLasting($0) == nil
      }
    }
  }
}

extension VaultError {
  /// What this machine has seen count is not as it was written; with what to do.
  static func damagedMemory(_ error: ModelError, path: String) -> VaultError {
    .damaged(
      path: path,
      reason: .broken(
        "\(error). Without it this machine would believe an older copy of the vault's folder. Put the file back from a backup; "
          + "if there is none, and nobody can have put an older folder here, remove it"))
  }
}
