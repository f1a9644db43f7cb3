import BlobStore
import MachineState
import VaultCrypto
import VaultErrors

/// Which notes of syncs were told on this machine about which nobody can do anything. Docs/Format.md, "This machine's state".
extension StateFolder {
  private static let toldNotesPath: BlobPath = "told-notes"
  private static let noteMarkByteCount = 8

  /// So many are remembered: whoever can write to a remote has any number of them told.
  package static let toldNoteLimit = 1_024

  /// Those of these notes that were not told before. From now on they are, unless the state cannot be written.
  package func untoldNotes(_ notes: [String]) throws(VaultError) -> Set<String> {
    let before = try toldNotes()
    let known = Set(before)
    var told = before
    var new: Set<String> = []
    for note in notes {
      let mark = Array(Digest.sha256(Array(note.utf8)).bytes.prefix(Self.noteMarkByteCount))
      guard !known.contains(mark), new.insert(note).inserted else { continue }
      told.append(mark)
    }
    if !new.isEmpty { try keepToldNotes(told.suffix(Self.toldNoteLimit)) }
    return new
  }

  private func keepToldNotes(_ marks: ArraySlice<[UInt8]>) throws(VaultError) {
    do {
      try store.replace(Self.toldNotesPath, marks.flatMap { $0 }, durably: false)
    } catch {
      switch error {
      // Who cannot write there is told again.
      case .readOnly, .permission, .noSpace: break
      default: throw VaultError(error)
      }
    }
  }

  /// In the order in which they were told.
  private func toldNotes() throws(VaultError) -> [[UInt8]] {
    let size = Self.noteMarkByteCount
    let bytes: [UInt8]
    do {
      bytes = try store.read(Self.toldNotesPath, limit: Self.toldNoteLimit * size)
    } catch {
      switch error {
      case .notFound, .tooLarge: return []
      default: throw VaultError(error)
      }
    }
    return stride(from: 0, through: bytes.count - size, by: size).map {
      Array(bytes[$0..<$0 + size])
    }
  }
}
