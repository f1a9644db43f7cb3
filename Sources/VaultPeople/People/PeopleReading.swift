import BlobStore
import VaultErrors
import VaultModel
import VaultTrust

/// Reads the closings and certificates of everyone: those of a folder, and those that this machine remembers.
///
/// A statement's name is its hash, so what is remembered is not read again. Docs/Format.md, section 17.
struct PeopleReading {
  let store: any BlobStore
  let vault: VaultID
  let memory: PeopleMemory
  private(set) var paths: [StatementFile: VaultPath] = [:]
  private(set) var lost: [VaultPath: [UInt8]] = [:]
  private(set) var problems: [Problem] = []
  /// What this machine could not read just now, and nobody may take for absent.
  private(set) var unread: [BlobPath: VaultError] = [:]

  init(store: any BlobStore, vault: VaultID, memory: PeopleMemory) {
    self.store = store
    self.vault = vault
    self.memory = memory
  }

  mutating func run() throws(VaultError) {
    var found: Set<VaultPath> = []
    for folder in try list("people") where folder.isFolder {
      guard let person = PersonID(hex: folder.name) else {
        problems.append(.foreign("people/\(folder.name)"))
        continue
      }
      for kind in ["closings", "certificates"] {
        let inside = BlobPath("people/\(person.hex)/\(kind)")
        for entry in try list(inside) {
          guard let path = VaultPath(parsing: inside.appending(entry.name).string) else {
            problems.append(.foreign(inside.appending(entry.name).string))
            continue
          }
          if memory.files[path] == nil { try read(path) }
          found.insert(path)
        }
      }
    }
    for (path, bytes) in memory.files {
      if case .wrap = path {
        if try isAbsent(path) { lost[path] = bytes }
        continue
      }
      add(path, bytes)
      if !found.contains(path) { lost[path] = bytes }
    }
  }

  private func list(_ folder: BlobPath) throws(VaultError) -> [BlobEntry] {
    try storing(store.list(folder))
  }

  private func isAbsent(_ path: VaultPath) throws(VaultError) -> Bool {
    try storing(store.size(of: BlobPath(path.string))) == nil
  }

  private mutating func read(_ path: VaultPath) throws(VaultError) {
    do {
      let bytes = try store.read(BlobPath(path.string), limit: Limits.signedFileBytes)
      do { try checkPlace(of: bytes, at: path) } catch {
        problems.append(Problem(.damaged, .damage, path: path.string, reason: "\(error)"))
        return
      }
      add(path, bytes)
    } catch {
      let error = VaultError(error)
      if error.isOfTheMachine { unread[BlobPath(path.string)] = error }
      problems.append(Problem(error, path: path.string))
    }
  }

  private mutating func add(_ path: VaultPath, _ bytes: [UInt8]) {
    guard let label = path.statementLabel else { return }
    paths[StatementFile(label, bytes)] = path
  }

  /// A statement under another one's name, or another person's, is no part of the vault.
  private func checkPlace(of bytes: [UInt8], at path: VaultPath) throws(TrustError) {
    guard let label = path.statementLabel else { return }
    let place = try StatementFile(label, bytes).place(in: vault)
    guard path.statementPlace == place else {
      throw .contradiction("its name is not that of what it says")
    }
  }
}

extension VaultPath {
  /// Of which kind the statement is that stands there; nil for any other file.
  package var statementLabel: SignedLabel? {
    switch self {
    case .closing: .closing
    case .certificate: .certificate
    case .memberRoot: .root
    case .link: .link
    default: nil
    }
  }

  /// In whose folder the path puts a statement, and under which id; nil for any other file.
  package var statementPlace: StatementPlace? {
    switch self {
    case .closing(let person, let id), .certificate(let person, let id): .person(person, id)
    case .memberRoot(let member): .member(member, member.root)
    case .link(let member, let id): .member(member, id)
    default: nil
    }
  }
}

extension Person {
  /// What keeps the person from being given keys, or does not count of what they are said to have signed.
  package var problems: [Problem] {
    let folder = BlobPath("people/\(id.hex)/closings")
    var found: [Problem] = []
    if history.isContested {
      found.append(.contestedWords(of: id, folder))
    } else if history.tips.count > 1 {
      found.append(.dividedKeys(of: id, folder))
    }
    let rivals = history.rivals
    for id in history.shadowed.sorted() {
      let closing = folder.appending(id.hex)
      found.append(rivals.contains(id) ? .rivalWords(closing) : .replacedWords(closing))
    }
    for id in history.unplaced.sorted() { found.append(.unplaced(folder.appending(id.hex))) }
    return found
  }
}

/// What is said of a person's closings.
extension Problem {
  fileprivate static func contestedWords(of person: PersonID, _ folder: BlobPath) -> Problem {
    Problem(
      .dividedKeys, .warning, path: folder.string,
      reason:
        "the 24 words of the person \(person.shortHex) were replaced twice, by machines that did not know of each other or "
        + "by somebody who found the old ones, and nothing here says which words count; until the words of both join "
        + "the two, nobody gives them keys: kinvault recovery join")
  }

  fileprivate static func dividedKeys(of person: PersonID, _ folder: BlobPath) -> Problem {
    Problem(
      .dividedKeys, .warning, path: folder.string,
      reason:
        "the keys of the person \(person.shortHex) were changed on two machines that had not met; what both removed is "
        + "removed, and nobody gives them keys until their 24 words join the two: kinvault recovery join"
    )
  }

  fileprivate static func rivalWords(_ closing: BlobPath) -> Problem {
    Problem(
      .untrusted, .warning, path: closing.string,
      reason:
        "it was signed with 24 words that replaced the same ones as those that count here: by this person, on a "
        + "machine that did not know of these, or by somebody who found the old ones. Nothing of it counts here. "
        + "Who has the words of both joins the two: kinvault recovery join")
  }

  fileprivate static func replacedWords(_ closing: BlobPath) -> Problem {
    Problem(
      .untrusted, .warning, path: closing.string,
      reason:
        "it was signed with 24 words that had been replaced, and does not count. If it was this person, on a machine "
        + "that did not know of the new words, they go on there: kinvault recovery join. If not, somebody has "
        + "the old words")
  }

  fileprivate static func unplaced(_ closing: BlobPath) -> Problem {
    Problem(
      .untrusted, .note, path: closing.string,
      reason:
        "what it follows is not here, or it breaks the rules; it does not count. It may once more has come: "
        + "kinvault sync")
  }
}
