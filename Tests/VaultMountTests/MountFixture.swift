import BlobStore
import Glibc
import MachineState
import SystemPackage
import Vault
import VaultCrypto
import VaultFiles
import VaultModel
import VaultObjects

@testable import VaultMount

/// A vault with one member, mounted in this process; unmounted and removed with the test, however that ends.
final class MountFixture {
  let temporary = TemporaryFolder()
  let stateRoot: FilePath
  let stateFolder: FilePath
  let mountpoint: FilePath
  /// The member's folder in the mount.
  let emma: FilePath
  private let folder: FilePath
  private let created: CreatedVault
  private var vault: Vault
  private(set) var mount: Mount?

  /// Whether this process may mount: `/dev/fuse` can be opened. Where it may not, the tests say so loudly.
  static var isPossible: Bool {
    let descriptor = open("/dev/fuse", O_RDWR | O_CLOEXEC)
    if descriptor >= 0 { close(descriptor) }
    return descriptor >= 0
  }

  init(options: MountOptions = MountOptions()) throws {
    stateRoot = temporary.folder("state", mode: 0o700)
    folder = temporary.path.appending("vault")
    let device = NewDevice(
      personName: "Adult A", deviceName: "test", deviceKind: "laptop", passwordCost: .floor,
      recoveryCost: .floor)
    let copy = try VaultCopy.make(in: folder, stateRoot: stateRoot)
    created = try Vault.create(
      copy, device: device, password: SecretBytes(copying: Array("for this test only".utf8)))
    vault = try Vault.open(copy, key: created.unlockKey)
    _ = try vault.addMember(named: FileTree.name(Array("Emma".utf8)))
    stateFolder = stateRoot.appending(vault.id.hex)
    mountpoint = temporary.path.appending("mnt")
    emma = mountpoint.appending("Emma")
    try start(options)
  }

  /// Mounts, also once more after `end`.
  func start(_ options: MountOptions = MountOptions()) throws {
    let tree = FileTree.load(vault: vault, options: FileTreeOptions(uid: getuid(), gid: getgid()))
    mount = try Mount.start(
      tree,
      MountSetup(
        mountpoint: mountpoint, vault: folder, stateFolder: stateFolder, options: options))
  }

  /// Mounts anew as a lazy vault that has no chunk of the files which were written before.
  func startLazily(from source: any ChunkSource) throws {
    try end()
    try vault.close()
    try StateFolder.open(root: stateRoot, vault: vault.id).storeLazySettings(LazySettings())
    let store = try DirectoryStore(opening: folder)
    let members: BlobPath = "members"
    for member in try store.list(members) {
      let objects = members.appending(member.name).appending("objects")
      for folder in try store.list(objects) {
        for object in try store.list(objects.appending(folder.name)) {
          let path = objects.appending(folder.name).appending(object.name)
          let file = try store.read(path, limit: 2 << 20)
          if file[5] == ObjectKind.chunk.rawValue { try store.remove(path) }
        }
      }
    }
    vault = try openElsewhere()
    vault.lazyChunks?.setSource(source)
    try start()
  }

  private func openElsewhere() throws -> Vault {
    try Vault.open(.find(in: folder, stateRoot: stateRoot), key: created.unlockKey)
  }

  /// Has another process write to a file of the member that is committed, and commit that.
  func writeElsewhere(_ bytes: [UInt8], at offset: UInt64, to name: String) throws {
    let vault = try openElsewhere()
    let tree = FileTree.load(vault: vault, options: FileTreeOptions(uid: getuid(), gid: getgid()))
    let emma = try tree.lookup(FileTree.root, FileTree.name(Array("Emma".utf8)))
    let file = try tree.lookup(emma.inode, FileTree.name(Array(name.utf8)))
    let handle = try tree.open(file.inode, [.write])
    try bytes.withUnsafeBytes { try handle.write(at: offset, $0) }
    try handle.flush()
    handle.release()
    try tree.commitNow()
    try vault.close()
  }

  /// What another process reads of a file of the member.
  func readElsewhere(_ name: String) throws -> [UInt8] {
    let vault = try openElsewhere()
    let tree = FileTree.load(vault: vault, options: FileTreeOptions(uid: getuid(), gid: getgid()))
    let emma = try tree.lookup(FileTree.root, FileTree.name(Array("Emma".utf8)))
    let file = try tree.lookup(emma.inode, FileTree.name(Array(name.utf8)))
    let handle = try tree.open(file.inode, [.read])
    var bytes = [UInt8](repeating: 0, count: Int(file.size))
    let count = try bytes.withUnsafeMutableBytes { try handle.read(at: 0, into: $0) }
    handle.release()
    try vault.close()
    return Array(bytes.prefix(count))
  }

  /// Unmounts and returns why the mount ended; nil when there is none.
  @discardableResult
  func end() throws -> Mount.Ending? {
    guard let mount else { return nil }
    self.mount = nil
    mount.requestEnd(.unmounted)
    return try mount.waitUntilEnded()
  }

  /// For a mount that has ended by itself.
  func forgetMount() { mount = nil }

  deinit {
    do {
      try end()
      try vault.close()
    } catch {
      preconditionFailure("the fixture did not end: \(error)")
    }
    precondition((try? MountTable.isVaultMount(mountpoint)) == false, "a mount was left behind")
  }
}

/// Plain file calls that throw the errno, so that a test reads like what it tests.
enum POSIX {
  struct Failure: Error, Hashable { let errno: Int32 }

  @discardableResult
  static func call<Result: SignedInteger>(_ result: Result) throws -> Result {
    if result < 0 { throw Failure(errno: Glibc.errno) }
    return result
  }

  static func write(_ path: FilePath, _ content: [UInt8], flags: Int32 = O_CREAT | O_TRUNC) throws {
    let descriptor = try call(open(path.string, O_WRONLY | O_CLOEXEC | flags, 0o644))
    defer { close(descriptor) }
    var sent = 0
    while sent < content.count {
      sent += try content.withUnsafeBytes {
        try call(Glibc.write(descriptor, $0.baseAddress?.advanced(by: sent), content.count - sent))
      }
    }
  }

  static func read(_ path: FilePath) throws -> [UInt8] {
    let descriptor = try call(open(path.string, O_RDONLY | O_CLOEXEC))
    defer { close(descriptor) }
    return try SmallFile.load(from: descriptor, path: path)
  }

  static func status(_ path: FilePath) throws -> stat {
    var status = stat()
    try call(lstat(path.string, &status))
    return status
  }

  static func names(_ path: FilePath) -> [String] {
    FolderNames.readable(in: path).map { String(decoding: $0, as: UTF8.self) }.sorted()
  }
}
