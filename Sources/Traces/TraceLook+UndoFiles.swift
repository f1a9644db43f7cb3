import BlobStore
import SystemPackage

/// What vim and Neovim keep of each edited file so that changes can be undone later, text that was deleted included: in a
/// folder of its own where the person has given it one (`undodir`), under the file's path with `%` for each `/`.
extension TraceLook {
  mutating func undoFiles(in folder: FilePath) {
    guard let store = open(folder) else { return }
    do throws(BlobStoreError) {
      for file in try store.list(.root) where file.kind == .blob {
        let named = Self.path(ofUndoFile: file.name)
        guard mounted.hold(named), let path = BlobPath.root.child(named: file.name) else {
          continue
        }
        do {
          // What does not begin as one is none, whatever it is called.
          let beginning = try store.read(path, at: 0, count: Self.undoMagic.count)
          guard beginning == Self.undoMagic else { continue }
        } catch {
          if case .notFound = error { continue }
          throw error
        }
        found(
          Trace(kind: .vimUndoFile, place: folder.appending(file.name), path: named), at: path,
          in: store)
      }
    } catch {
      note(folder, error)
    }
  }

  /// `UF_START_MAGIC` in vim's undo.c.
  private static let undoMagic: [UInt8] = [
    0x56, 0x69, 0x6D, 0x9F, 0x55, 0x6E, 0x44, 0x6F, 0xE5,
  ]

  private static func path(ofUndoFile name: String) -> [UInt8] {
    name.utf8.map { $0 == UInt8(ascii: "%") ? UInt8(ascii: "/") : $0 }
  }
}
