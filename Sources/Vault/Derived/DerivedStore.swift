import BlobStore
import MachineState
import Threads
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects

/// What something was derived from, and as what.
package struct DerivedContent: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// All that can be searched in a member's records.
    case searchIndex
    /// What has been added to that since.
    case searchJournal
    /// The text that stands in a file.
    case text
    /// How many pages a file has.
    case pageCount
    /// A file as a picture that fits into a square of so many pixels.
    case thumbnail(side: Int)
    /// One of a file's pages, from 1 on, as a picture that fits into a square of so many pixels.
    case page(Int, side: Int)
    /// A page of grey values as such a picture, with the values around a centre shown from black to white.
    case windowedPage(Int, side: Int, centre: Double, width: Double)
    /// What a DICOM file says of itself.
    case dicomHeader

    /// As Docs/Format.md calls it.
    fileprivate var word: String {
      switch self {
      case .searchIndex: "search index"
      case .searchJournal: "search journal"
      case .text: "text"
      case .pageCount: "pages"
      case .thumbnail(let side): "thumbnail \(side)"
      case .page(let number, let side): "page \(number) \(side)"
      case .windowedPage(let number, let side, let centre, let width):
        "page \(number) \(side) \(centre) \(width)"
      case .dicomHeader: "dicom header"
      }
    }
  }

  package let kind: Kind
  /// Empty for what is of the member as a whole.
  private let source: [UInt8]

  /// What is made of the member as a whole.
  package init(_ kind: Kind) { (self.kind, source) = (kind, []) }

  /// What is made of the content of a file, wherever that stands and whatever it is called.
  package init(_ kind: Kind, of item: Item) {
    self.kind = kind
    let (form, bytes): (UInt8, [UInt8]) =
      switch item.content {
      case .none: (0, [])
      case .inline(let bytes): (1, bytes)
      case .chunks(let names): (2, names.flatMap { ($0 ?? .zero).bytes })
      case .indexes(let names): (3, names.flatMap(\.bytes))
      case .symlink(let bytes): (4, bytes)
      }
    source = [form] + Swift.withUnsafeBytes(of: item.size.littleEndian) { Array($0) } + bytes
  }

  fileprivate var bytes: [UInt8] { Array(kind.word.utf8) + [0] + source }
}

/// What this machine has derived from one member's records and could derive again, sealed in its state: Docs/Format.md,
/// "What is derived".
///
/// Nothing of it is ever waited for or relied upon: what is not there, torn, or sealed with keys that are gone is made
/// again. Any number of processes may use it at once; of two that store one thing the last one wins. Safe to use from any
/// thread.
package struct DerivedStore: Sendable {
  /// What all that is derived of a vault may take on the disk, in bytes. Beyond that what was of use longest ago goes.
  package static let byteLimit: UInt64 = 512 << 20

  private let context: VaultContext
  private let folder: BlobPath
  /// Those of the epoch in use first.
  private let keys: [DerivedKeys]

  fileprivate init(of member: Member) {
    context = member.context
    folder = StateFolder.derivedPath.appending(member.id.hex)
    let epochs = [member.register.keys.current] + member.register.keys.others
    keys = epochs.map { DerivedKeys(machine: member.context.slotKey, epoch: $0) }
  }

  /// What was stored; nil where it has to be derived again.
  package func load(_ content: DerivedContent) throws(VaultError) -> [UInt8]? {
    for (number, keys) in keys.enumerated() {
      let path = path(of: content, keys)
      guard let file = try context.state.readIfUsable(path, limit: Int(Self.byteLimit)) else {
        continue
      }
      guard let bytes = keys.open(file, path: path.string) else {
        try storing(store.remove(path))
        continue
      }
      guard number > 0 else {
        try noteUse(of: path)
        return bytes
      }
      // What was sealed in an epoch before goes on in this one.
      try self.store(bytes, as: content)
      return bytes
    }
    return nil
  }

  /// Stores it for later, in place of what there was, and does not wait for the disk. Where there is no room, or the
  /// state cannot be written, it is not stored.
  package func store(_ bytes: [UInt8], as content: DerivedContent) throws(VaultError) {
    let path = path(of: content, keys[0])
    let file = keys[0].seal(bytes, path: path.string)
    do {
      try store.replace(path, file, durably: false)
      for older in keys.dropFirst() { try store.remove(self.path(of: content, older)) }
    } catch {
      switch error {
      case .noSpace, .readOnly, .permission: return
      default: throw VaultError(error)
      }
    }
    try context.noteDerived(byteCount: UInt64(file.count))
  }

  package func remove(_ content: DerivedContent) throws(VaultError) {
    for keys in keys {
      try storing(store.remove(path(of: content, keys)))
    }
  }

  private var store: any LocalStore { context.state.store }

  private func path(of content: DerivedContent, _ keys: DerivedKeys) -> BlobPath {
    folder.appending(keys.name(of: content.bytes))
  }

  private func noteUse(of path: BlobPath) throws(VaultError) {
    do { try store.noteUse(of: path) } catch {
      switch error {
      // Where nothing can be written, nothing is removed for its age either.
      case .readOnly, .permission: return
      default: throw VaultError(error)
      }
    }
  }
}

extension Member {
  /// What this machine has derived from the member's records.
  package var derived: DerivedStore { DerivedStore(of: self) }
}

extension VaultContext {
  /// So many bytes were stored by this process. Keeps all that is derived within its limit: at the first of them, and
  /// whenever another sixteenth of the limit has come since.
  fileprivate func noteDerived(byteCount: UInt64) throws(VaultError) {
    let limit = DerivedStore.byteLimit
    let isDue = derivedSinceTrim.withLock { since in
      let isDue = since.map { $0 + byteCount >= limit / 16 } ?? true
      since = isDue ? 0 : (since ?? 0) + byteCount
      return isDue
    }
    if isDue { try state.trimDerived(to: limit - limit / 16) }
  }
}

extension Vault {
  /// Removes what was derived of members to which this person has no access any more, or that are gone. What keeps it from
  /// being removed is a problem, and told as one.
  package func removeDerivedOfOthers() {
    let members = Set(openedMembers.lazy.filter { $0.role != nil }.map(\.id))
    do { try context.state.removeDerived(but: members) } catch {
      note(Problem(error, path: context.state.describe(StateFolder.derivedPath)))
    }
  }
}
