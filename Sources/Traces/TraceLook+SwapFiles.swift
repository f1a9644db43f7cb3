import BlobStore
import Glibc
import SystemPackage

/// Swap files that vim put elsewhere than beside the edited file, as it does where it may not write there.
extension TraceLook {
  mutating func swapFiles(in folder: FilePath, home: [UInt8], user: String) {
    guard let store = open(folder, isShared: true) else { return }
    do {
      for file in try store.list(.root) where file.kind == .blob && Self.isSwapName(file.name) {
        guard let path = BlobPath.root.child(named: file.name), isOwn(folder.appending(file.name))
        else { continue }
        try swapFile(at: path, in: store, home: home, user: user)
      }
    } catch {
      note(folder, error)
    }
  }

  private mutating func swapFile(
    at path: BlobPath, in store: DirectoryStore, home: [UInt8], user: String
  ) throws(BlobStoreError) {
    let bytes: [UInt8]
    do {
      bytes = try store.read(path, at: 0, count: VimSwapHeader.byteCount)
    } catch {
      // Programs come and go in such a folder.
      if case .notFound = error { return }
      throw error
    }
    guard let header = VimSwapHeader(decoding: bytes),
      let named = VimPaths.absolute(header.path, home: home, user: user), mounted.hold(named)
    else { return }
    let place = store.folder.appending(path.string)
    let trace = Trace(kind: .vimSwapFile, place: place, path: named)
    // Who still edits would lose what a crash could give back.
    if removes, header.process > 0, kill(header.process, 0) == 0 {
      return note(place, "process \(header.process) uses it: close the editor first")
    }
    found(trace, at: path, in: store)
  }

  /// `.name.swp`, and `.swo`, `.swn` and so on for further ones.
  private static func isSwapName(_ name: String) -> Bool {
    let ending = name.utf8.suffix(4)
    return ending.count == 4 && ending.starts(with: ".s".utf8)
  }

  /// In a folder for all, what others have put there is theirs.
  private func isOwn(_ file: FilePath) -> Bool {
    var status = stat()
    return file.withPlatformString { lstat($0, &status) } == 0 && status.st_uid == geteuid()
  }
}
