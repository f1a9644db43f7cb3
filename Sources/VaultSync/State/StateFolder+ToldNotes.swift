import BlobStore
import MachineState
import VaultCrypto
import VaultErrors

/// A note of a sync about which nobody can do anything.
package struct ToldNote: Hashable, Sendable {
  /// Of what lies on the remote.
  let path: String
  let text: String

  package init(path: String, text: String) { (self.path, self.text) = (path, text) }

  fileprivate var folder: String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }
}

/// Which of these notes were told on this machine. Docs/Format.md, "This machine's state".
extension StateFolder {
  private static let toldNotesPath: BlobPath = "told-notes"
  private static let folderMarkByteCount = 4
  private static let noteMarkByteCount = folderMarkByteCount + 8

  /// So many are remembered: whoever can write to a remote has any number of them told.
  package static let toldNoteLimit = 1_024

  /// Those of these notes that were not told before. From now on they are, unless the state cannot be written.
  ///
  /// - Parameter listed: Folders of the remote of which these are all the notes there are: what was told before of something
  ///   in them that is not there any more is told again when it comes back.
  package func untoldNotes(
    _ notes: [ToldNote], on remote: String, listed: Set<String> = []
  ) throws(VaultError) -> Set<ToldNote> {
    func folderMark(_ folder: String) -> [UInt8] {
      Self.mark(of: "\(remote) \(folder)", byteCount: Self.folderMarkByteCount)
    }
    let marks = notes.map { note -> [UInt8] in
      let text = "\(remote) \(note.path): \(note.text)"
      let rest = Self.noteMarkByteCount - Self.folderMarkByteCount
      return folderMark(note.folder) + Self.mark(of: text, byteCount: rest)
    }
    let (there, looked) = (Set(marks), Set(listed.map { folderMark($0) }))
    let before = try toldNotes()
    var told = before.filter { mark in
      there.contains(mark) || !looked.contains(Array(mark.prefix(Self.folderMarkByteCount)))
    }
    let known = Set(told)
    var new: Set<ToldNote> = []
    for (note, mark) in zip(notes, marks) {
      guard !known.contains(mark), new.insert(note).inserted else { continue }
      told.append(mark)
    }
    // Who cannot write there is told again.
    if told != before {
      try replaceIfWritable(Self.toldNotesPath, told.suffix(Self.toldNoteLimit).flatMap { $0 })
    }
    return new
  }

  private static func mark(of text: String, byteCount: Int) -> [UInt8] {
    Array(Digest.sha256(Array(text.utf8)).bytes.prefix(byteCount))
  }

  /// In the order in which they were told.
  private func toldNotes() throws(VaultError) -> [[UInt8]] {
    let size = Self.noteMarkByteCount
    let limit = Self.toldNoteLimit * size
    guard let bytes = try readIfUsable(Self.toldNotesPath, limit: limit) else { return [] }
    return stride(from: 0, through: bytes.count - size, by: size).map {
      Array(bytes[$0..<$0 + size])
    }
  }
}
