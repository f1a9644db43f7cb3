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
final class RedoLog: Sendable {
  private struct State {
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
  }

  let path: BlobPath
  private let member: MemberID
  private let folder: RedoFolder
  private let store: any LocalStore
  private let keys: MemberKeys
  private let state = Guarded(State())

  init(member: MemberID, folder: RedoFolder, store: any LocalStore, keys: MemberKeys) {
    self.member = member
    self.folder = folder
    self.store = store
    self.keys = keys
    path = folder.path(of: member)
  }

  /// A record that is longer is no faster than a commit.
  static let recordLimit = 512 << 10

  /// Whether everything logged is in a commit.
  var isEmpty: Bool { state.withLock { $0.offset == 0 && !$0.isBroken } }

  func holds(_ digest: ContentDigest) -> Bool {
    state.withLock { $0.objects.contains(digest) }
  }

  /// The records of the vault of which something is logged: what is logged next replaces that.
  var records: Set<RecordID> { state.withLock { $0.records } }

  /// What a head says that has all that was logged; nil when nothing was since the last one.
  var mark: Head.Redone? {
    state.withLock { state in
      guard state.offset > 0 || state.isBroken else { return nil }
      return Head.Redone(writer: folder.writer, sequence: state.sequence)
    }
  }

  /// Appends a record; it is on disk when this returns true.
  ///
  /// - Returns: False if there is no room for it, or the disk has refused one: then only a commit helps.
  /// - Throws: What the disk says to this one; a commit helps here, too.
  func append(_ record: RedoRecord) throws(VaultError) -> Bool {
    try state.withLock { (state) throws(VaultError) in
      guard !state.isBroken else { return false }
      if !state.hasFile {
        try makeFile()
        state.hasFile = true
      }
      let bytes = RedoFile.encode(
        record, sequence: state.sequence + 1, with: keys.current, path: path.string)
      guard bytes.count <= Self.recordLimit, state.offset + bytes.count <= RedoFile.byteCount
      else { return false }
      state.sequence += 1
      state.isBroken = true
      let offset = UInt64(state.offset)
      try storing(store.overwrite(path, at: offset, bytes))
      state.isBroken = false
      state.offset += bytes.count
      state.objects.formUnion(record.objects.map(\.digest))
      state.records = Set(record.edits.map(\.record))
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
    state.withLock { state in
      state.offset = 0
      state.objects = []
      state.records = []
      state.isBroken = false
    }
  }

  /// Takes the records out of the file, where no head says that they count no more; on disk when this returns.
  func erase() throws(VaultError) {
    guard !isEmpty else { return }
    try storing(store.overwrite(path, at: 0, [UInt8](repeating: 0, count: RedoFile.blockSize)))
    rewind()
  }
}
