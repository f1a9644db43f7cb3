import BlobStore
import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultObjects

/// The redo file of one member and this process: what was synced and no commit has yet.
///
/// A commit costs the disk several files and two waits; a record here costs one write into a file that has its place
/// already. Once a commit has all that was logged, the file is written anew from its beginning.
///
/// A member that is closed and opened again has two of these over one file: while there is in it what one has logged, the other
/// logs nothing.
final class RedoLog: Sendable {
  /// What this process knows of a member's file, also once it has closed the member.
  struct File {
    var hasFile = false
    /// Where the next record goes.
    var offset = 0
    /// Of the last record that may be in the file; goes on over the whole life of the process.
    var sequence: UInt64 = 0
    /// Objects that a record since the last commit holds.
    var objects: Set<ContentDigest> = []
    /// Of which the last record has edits.
    var records: Set<RecordID> = []
    /// A record may be there or not: nothing may follow it.
    var isBroken = false
    /// Whose it is, as long as something in it is in no commit.
    fileprivate var user: User?
  }

  /// Tells one log of a file from the other.
  fileprivate final class User: Sendable {}

  let path: BlobPath
  private let member: MemberID
  private let folder: RedoFolder
  private let store: any LocalStore
  private let keys: MemberKeys
  private let file: Guarded<File>
  private let user = User()

  init(member: MemberID, context: VaultContext, keys: MemberKeys) {
    self.member = member
    folder = context.redoFolder
    store = context.state.store
    self.keys = keys
    file = context.redoFile(of: member)
    path = folder.path(of: member)
  }

  /// A record that is longer is no faster than a commit.
  static let recordLimit = 512 << 10

  /// Whether everything logged is in a commit.
  var isEmpty: Bool { file.withLock { $0.user !== user } }

  func holds(_ digest: ContentDigest) -> Bool {
    file.withLock { $0.user === user && $0.objects.contains(digest) }
  }

  /// The records of the vault of which something is logged: what is logged next replaces that.
  var records: Set<RecordID> { file.withLock { $0.user === user ? $0.records : [] } }

  /// What a head says that has all that was logged; nil when nothing was since the last one.
  var mark: Head.Redone? {
    file.withLock { file in
      guard file.user === user else { return nil }
      return Head.Redone(writer: folder.writer, sequence: file.sequence)
    }
  }

  /// Appends a record; it is on disk when this returns true.
  ///
  /// - Returns: False if there is no room for it, or the disk has refused one, or the file is somebody else's: then only a
  ///   commit helps.
  /// - Throws: What the disk says to this one; a commit helps here, too.
  func append(_ record: RedoRecord) throws(VaultError) -> Bool {
    try file.withLock { (file) throws(VaultError) in
      guard !file.isBroken, file.user == nil || file.user === user else { return false }
      if !file.hasFile {
        try makeFile()
        file.hasFile = true
      }
      let bytes = RedoFile.encode(
        record, sequence: file.sequence + 1, with: keys.current, path: path.string)
      guard bytes.count <= Self.recordLimit, file.offset + bytes.count <= RedoFile.byteCount
      else { return false }
      file.sequence += 1
      file.isBroken = true
      file.user = user
      let offset = UInt64(file.offset)
      try storing(store.overwrite(path, at: offset, bytes))
      file.isBroken = false
      file.offset += bytes.count
      file.objects.formUnion(record.objects.map(\.digest))
      file.records = Set(record.edits.map(\.record))
      return true
    }
  }

  private func makeFile() throws(VaultError) {
    try folder.make()
    let zeros = [UInt8](repeating: 0, count: RedoFile.byteCount)
    try storing(store.replace(path, zeros, durably: true))
  }

  /// A head says that it has everything: the records in the file count no more.
  func rewind() {
    file.withLock { file in
      guard file.user === user else { return }
      file.offset = 0
      file.objects = []
      file.records = []
      file.isBroken = false
      file.user = nil
    }
  }

  /// Takes the records out of the file, where no head says that they count no more; on disk when this returns.
  func erase() throws(VaultError) {
    guard !isEmpty else { return }
    try storing(store.overwrite(path, at: 0, [UInt8](repeating: 0, count: RedoFile.blockSize)))
    rewind()
  }
}
