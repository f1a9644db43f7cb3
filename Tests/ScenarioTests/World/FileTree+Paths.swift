import VaultModel

@testable import VaultFiles

/// What programs do in the mounted view, by path.
extension FileTree {
  func find(_ path: some StringProtocol) throws(FileError) -> Inode {
    var inode = Self.root
    for part in path.split(separator: "/") {
      inode = try lookup(inode, Self.name(Array(part.utf8))).inode
    }
    return inode
  }

  private func split(_ path: String) throws(FileError) -> (parent: Inode, name: FileName) {
    let parts = path.split(separator: "/")
    return (
      try find(parts.dropLast().joined(separator: "/")),
      try Self.name(Array((parts.last ?? "").utf8))
    )
  }

  private func isFolder(_ inode: Inode) throws(FileError) -> Bool {
    try attributes(inode).type == FileMode.directory
  }

  /// Makes the folder, and those above it, where they are missing.
  func makeFolders(_ path: String) throws(FileError) {
    var inode = Self.root
    for part in path.split(separator: "/") {
      let name = try Self.name(Array(part.utf8))
      do throws(FileError) { inode = try lookup(inode, name).inode } catch {
        guard error == .notFound else { throw error }
        inode = try makeDirectory(inode, name, mode: 0o755).inode
      }
    }
  }

  /// Opens a file to be written; makes it if it is missing.
  func openToWrite(_ path: String) throws(FileError) -> FileHandle {
    let (parent, name) = try split(path)
    return try create(parent, name, mode: 0o644, flags: [.read, .write]).handle
  }

  /// Replaces the content of a file.
  func write(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    let handle = try openToWrite(path)
    defer { handle.release() }
    try handle.replaceContent(by: bytes)
  }

  func read(_ inode: Inode) throws(FileError) -> [UInt8] {
    let handle = try open(inode, .read)
    defer { handle.release() }
    let size = Int(try attributes(inode).size)
    var bytes = [UInt8](repeating: 0, count: size)
    let result: Result<Int, FileError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(FileError) { return .success(try handle.read(at: 0, into: buffer)) } catch {
        return .failure(error)
      }
    }
    return Array(bytes.prefix(try result.get()))
  }

  func move(_ path: String, to newPath: String) throws(FileError) {
    let (parent, name) = try split(path)
    let (newParent, newName) = try split(newPath)
    try rename(parent, name, to: newParent, newName, mode: .replace)
  }

  /// As `rm -r` does.
  func remove(_ path: String) throws(FileError) {
    let (parent, name) = try split(path)
    let inode = try find(path)
    guard try isFolder(inode) else { return try unlink(parent, name) }
    for child in try listed(in: inode) { try remove("\(path)/\(child)") }
    try removeDirectory(parent, name)
  }

  private func listed(in inode: Inode) throws(FileError) -> [String] {
    let handle = try openDirectory(inode)
    defer { handle.release() }
    var names: [String] = []
    try handle.read(from: 0) {
      names.append(String(decoding: $0.name, as: UTF8.self))
      return true
    }
    return names.dropFirst(2).sorted()
  }

  /// Every file below the members with its content, and with nil every folder that has nothing in it.
  func everything() throws(FileError) -> [(path: String, content: [UInt8]?)] {
    var found: [(path: String, content: [UInt8]?)] = []
    func visit(_ inode: Inode, _ path: String, depth: Int) throws(FileError) {
      let names = try listed(in: inode)
      if names.isEmpty { found.append((path + "/", nil)) }
      guard depth < 40 else { throw .invalidArgument }
      for name in names {
        let child = try lookup(inode, Self.name(Array(name.utf8))).inode
        let childPath = path.isEmpty ? name : "\(path)/\(name)"
        if try isFolder(child) {
          try visit(child, childPath, depth: depth + 1)
        } else {
          found.append((childPath, try read(child)))
        }
      }
    }
    try visit(Self.root, "", depth: 0)
    return found
  }
}

extension FileHandle {
  /// Writes all of it anew, as a program does that saves in place.
  func replaceContent(by bytes: [UInt8]) throws(FileError) {
    try truncate(to: 0)
    let result: Result<Void, FileError> = bytes.withUnsafeBytes { buffer in
      do throws(FileError) { return .success(try write(at: 0, buffer)) } catch {
        return .failure(error)
      }
    }
    try result.get()
    try flush()
  }
}
