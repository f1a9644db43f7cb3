import Glibc
import Log
import MachineState
import TestSupport
import Testing
import Vault
import VaultCrypto
import VaultModel

import struct SystemPackage.Errno
import struct SystemPackage.FilePath

@testable import VaultFiles

/// A vault in a temporary folder, with a tree over it; removed with this value.
final class MountedVault {
  let folder: FilePath
  let stateRoot: FilePath
  private let root: FilePath
  // Nil between a crash and the next process.
  private var served: (vault: Vault, tree: FileTree)?
  var vault: Vault { serving.vault }
  var tree: FileTree { serving.tree }
  let options: FileTreeOptions
  private let clock: WallClock
  private let created: CreatedVault

  static let password = Array("correct horse".utf8)

  /// The vault as it is made: once, since that takes long.
  private struct Template: Sendable {
    let root: FilePath
    let created: CreatedVault

    init() throws {
      root = try makeFolder()
      let (folder, stateRoot) = parts(of: root)
      let device = NewDevice(
        personName: "Adult A", deviceName: "laptop", deviceKind: "laptop", passwordCost: .floor,
        recoveryCost: .floor)
      created = try Vault.create(
        .make(in: folder, stateRoot: stateRoot), device: device,
        password: SecretBytes(copying: password))
      atexit { removeTemplate() }
    }
  }

  private static let template: Result<Template, any Error> = Result { try Template() }

  private static func removeTemplate() {
    if case .success(let template) = template { removeTree(template.root) }
  }

  /// In memory where there is such a place: every commit waits for its disk.
  private static func makeFolder() throws -> FilePath {
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var name = Array("\(parent)/kinvault-files-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw Errno(rawValue: errno) }
    return FilePath(platformString: name)
  }

  private static func parts(of root: FilePath) -> (folder: FilePath, stateRoot: FilePath) {
    (root.appending("vault"), root.appending("state"))
  }

  init(
    clock: WallClock = .system, log: BackgroundLog = .silent,
    _ change: (inout FileTreeOptions) -> Void = { _ in }
  ) throws {
    self.clock = clock
    let template = try Self.template.get()
    created = template.created
    root = try Self.makeFolder()
    let copy = try CommandRunner.run("cp", ["-a", "\(template.root)/.", root.string])
    try #require(copy.status == 0, "\(copy.errors)")
    (folder, stateRoot) = Self.parts(of: root)
    let vault = try Vault.open(
      .find(in: folder, stateRoot: stateRoot, clock: clock), key: created.unlockKey,
      options: OpenOptions(log: log))
    var options = FileTreeOptions(uid: 1000, gid: 1000)
    change(&options)
    self.options = options
    served = (vault, FileTree.load(vault: vault, options: options))
  }

  private var serving: (vault: Vault, tree: FileTree) {
    guard let served else { preconditionFailure("the process has crashed") }
    return served
  }

  deinit {
    Self.removeTree(root)
  }

  /// Opens the vault once more, as another process of this device does.
  func openAgain(readOnly: Bool = false, in copy: FilePath? = nil) throws -> Vault {
    try Vault.open(
      .find(in: copy ?? folder, stateRoot: stateRoot, clock: clock), key: created.unlockKey,
      options: OpenOptions(readOnly: readOnly))
  }

  /// Opens the vault as another device of the same person, which shares the folder unless it has a copy.
  func openOnAnotherDevice(in copy: FilePath? = nil) throws -> Vault {
    try enrolAnotherDevice(in: copy).open()
  }

  /// Another device, of the same person or of another one.
  final class OtherDevice {
    let folder: FilePath
    private let stateRoot: FilePath
    private let key: DeviceUnlockKey

    private let clock: WallClock

    fileprivate init(
      folder: FilePath, stateRoot: FilePath, key: consuming DeviceUnlockKey,
      clock: WallClock = .system
    ) {
      self.folder = folder
      self.stateRoot = stateRoot
      self.key = key
      self.clock = clock
    }

    /// Opens the vault there, as each of its processes does.
    func open() throws -> Vault {
      try Vault.open(.find(in: folder, stateRoot: stateRoot, clock: clock), key: key)
    }
  }

  /// Makes one, which shares the folder unless it has a copy.
  func enrolAnotherDevice(in copy: FilePath? = nil) throws -> OtherDevice {
    let folder = copy ?? folder
    let otherState = root.appending("other state")
    let device = NewDevice(
      personName: "Adult A", deviceName: "desk", deviceKind: "desktop", passwordCost: .floor,
      recoveryCost: .floor)
    let key = try Vault.recover(
      .find(in: folder, stateRoot: otherState), words: created.words, device: device,
      password: SecretBytes(copying: Self.password))
    return OtherDevice(folder: folder, stateRoot: otherState, key: key)
  }

  /// Opens the vault as another person, whom the first one invites, and who shares the folder.
  func joinAsAnotherPerson(clock: WallClock = .system) throws -> Vault {
    try inviteAnotherPerson(clock: clock).open()
  }

  /// The device of another person, whom the first one invites, and who shares the folder.
  func inviteAnotherPerson(clock: WallClock = .system) throws -> OtherDevice {
    let otherState = root.appending("another person's state")
    let device = NewDevice(
      personName: "Adult B", deviceName: "tablet", deviceKind: "tablet", passwordCost: .floor,
      recoveryCost: .floor)
    let copy = try VaultCopy.find(in: folder, stateRoot: otherState)
    _ = try Vault.join(
      vault.invite(), in: copy, device: device,
      password: SecretBytes(copying: Self.password), words: .random())
    let key = try UnlockSlots(of: copy)
      .open(password: SecretBytes(copying: Self.password)).takeKey()
    return OtherDevice(folder: folder, stateRoot: otherState, key: key, clock: clock)
  }

  /// Drops the tree as a crash does, or commits it first, and mounts anew.
  func remount(committing: Bool = true) throws {
    if committing {
      try tree.stop()
      try openAfterCrash()
    } else {
      try crash()
    }
  }

  /// Ends the process as a crash does: its locks are free, and nothing more is committed. Then, if wanted, the next
  /// one begins.
  func crash(opensAgain: Bool = true) throws {
    // A test may still hold a part of the tree, and with it the locks; closing commits nothing either.
    try served?.vault.close()
    served = nil
    if opensAgain { try openAfterCrash() }
  }

  func openAfterCrash() throws {
    let vault = try openAgain()
    served = (vault, FileTree.load(vault: vault, options: options))
  }

  private static func removeTree(_ path: FilePath) {
    guard let directory = opendir(path.string) else {
      unlink(path.string)
      return
    }
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { removeTree(path.appending(name)) }
    }
    closedir(directory)
    rmdir(path.string)
  }
}

/// Paths instead of inodes, for tests.
extension FileTree {
  func find(_ path: String) throws(FileError) -> Inode {
    var inode = Self.root
    for part in path.split(separator: "/") { inode = try lookup(inode, name(part)).inode }
    return inode
  }

  func name(_ text: some StringProtocol) throws(FileError) -> FileName {
    try Self.name(Array(text.utf8))
  }

  private func split(_ path: String) throws(FileError) -> (Inode, FileName) {
    let parts = path.split(separator: "/")
    return (
      try find(parts.dropLast().joined(separator: "/")), try name(parts.last ?? "")
    )
  }

  func stat(_ path: String) throws(FileError) -> Attributes { try attributes(find(path)) }

  func mkdir(_ path: String) throws(FileError) {
    let (parent, name) = try split(path)
    _ = try makeDirectory(parent, name, mode: 0o755)
  }

  func rmdir(_ path: String) throws(FileError) {
    let (parent, name) = try split(path)
    try removeDirectory(parent, name)
  }

  func unlink(_ path: String) throws(FileError) {
    let (parent, name) = try split(path)
    try unlink(parent, name)
  }

  func rename(_ path: String, _ newPath: String, _ mode: RenameMode = .replace) throws(FileError) {
    let (parent, name) = try split(path)
    let (newParent, newName) = try split(newPath)
    try rename(parent, name, to: newParent, newName, mode: mode)
  }

  func link(_ path: String, _ newPath: String) throws(FileError) {
    let (parent, name) = try split(newPath)
    _ = try link(find(path), to: parent, name)
  }

  func open(_ path: String, _ flags: OpenFlags = [.read, .write]) throws(FileError) -> FileHandle {
    try open(find(path), flags)
  }

  func create(
    _ path: String, mode: UInt32 = 0o644, _ flags: OpenFlags = [.read, .write]
  ) throws(FileError) -> FileHandle {
    let (parent, name) = try split(path)
    return try create(parent, name, mode: mode, flags: flags).handle
  }

  func write(_ path: String, _ bytes: [UInt8]) throws(FileError) {
    let handle = try create(path)
    defer { handle.release() }
    try handle.truncate(to: 0)
    try handle.put(bytes, at: 0)
    try handle.flush()
  }

  func write(_ path: String, _ text: String) throws(FileError) {
    try write(path, Array(text.utf8))
  }

  func read(_ path: String) throws(FileError) -> [UInt8] {
    let handle = try open(path, .read)
    defer { handle.release() }
    return try handle.get(at: 0, count: Int(handle.attributes().size) + 1)
  }

  func text(_ path: String) throws(FileError) -> String {
    String(decoding: try read(path), as: UTF8.self)
  }

  func list(_ path: String) throws(FileError) -> [String] {
    let handle = try openDirectory(find(path))
    defer { handle.release() }
    var names: [String] = []
    try handle.read(from: 0) {
      names.append(String(decoding: $0.name, as: UTF8.self))
      return true
    }
    return Array(names.dropFirst(2))
  }
}

extension FileHandle {
  func put(
    _ bytes: [UInt8], at offset: UInt64, as kind: WriteKind = .atOffset, by caller: Caller? = nil
  ) throws(FileError) {
    let result: Result<Void, FileError> = bytes.withUnsafeBytes { buffer in
      do throws(FileError) {
        return .success(try write(at: offset, buffer, as: kind, by: caller))
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// What `fstat` tells; also of a file that has no name any more.
  func attributes() throws(FileError) -> Attributes {
    tree.withTree { tree in tree.attributes(of: tree[file]) }
  }

  func get(at offset: UInt64, count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xaa, count: count)
    let result: Result<Int, FileError> = bytes.withUnsafeMutableBytes { buffer in
      do throws(FileError) { return .success(try read(at: offset, into: buffer)) } catch {
        return .failure(error)
      }
    }
    return Array(bytes.prefix(try result.get()))
  }
}
