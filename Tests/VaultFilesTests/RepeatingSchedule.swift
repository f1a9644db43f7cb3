import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel
import VaultObjects

@testable import Vault
@testable import VaultFiles

/// Files of few contents that are saved, renamed, linked, removed and opened at random, on a disk that is full now and
/// then, beside a model of what they must hold. A live tree and a fresh one show the same at every commit.
final class RepeatingSchedule {
  private final class File {
    var content: [UInt8] = []
  }

  private let id: VaultID
  private let store = MemoryStore()
  private let stateStore = MemoryStore()
  private let created: CreatedVault
  private let vault: Vault
  private let tree: FileTree
  private let seed: UInt64
  private var random: SeededGenerator
  private var names: [String: File] = [:]
  private var handles: [(handle: FileHandle, file: File)] = []
  /// Files that the kernel knows, with or without a name.
  private var inodes: [(inode: Inode, file: File)] = []
  /// Of every file that there was.
  private var allInodes: Set<Inode> = []
  private var steps: [String] = []

  private static let contents: [[UInt8]] =
    [0, 5, 3000, 100_000].map { [UInt8](repeating: 1, count: $0) }
    + [5, 100_000].map { [UInt8](repeating: 2, count: $0) }
  private static let places = ["a", "b"].flatMap { folder in
    (0..<4).map { "Emma/\(folder)/\($0)" }
  }

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    id = try #require(VaultID([UInt8](repeating: 7, count: VaultID.byteCount)))
    let device = NewDevice(
      personName: "Adult A", deviceName: "desk", deviceKind: "desktop", passwordCost: .floor,
      recoveryCost: .floor)
    created = try Vault.create(
      VaultCopy(id: id, store: store, state: StateFolder(store: stateStore), clock: .system),
      device: device, password: SecretBytes(copying: Array("correct horse".utf8)))
    vault = try Vault.open(
      VaultCopy(id: id, store: store, state: StateFolder(store: stateStore), clock: .system),
      key: created.unlockKey, options: OpenOptions())
    tree = FileTree.load(vault: vault, options: FileTreeOptions(uid: 1000, gid: 1000))
    for folder in ["Emma", "Emma/a", "Emma/b"] { try tree.mkdir(folder) }
  }

  /// Does one step; where the disk is full, again when there is room.
  func performRandomStep() throws {
    let number = Int.random(in: 0..<100, using: &random)
    let (path, other) = (place(), place())
    let content = Self.contents.randomElement(using: &random) ?? []
    do throws(FileError) {
      try perform(number, path, other, content)
    } catch {
      guard error == .noSpace else { throw error }
      note("full")
      store.limit(toBytes: nil)
      try compare()
      try perform(number, path, other, content)
    }
  }

  private func perform(
    _ number: Int, _ path: String, _ other: String, _ content: [UInt8]
  ) throws(FileError) {
    switch number {
    case ..<20: try save(path, content)
    case ..<35: try replace(path, content)
    case ..<45: try remove(path)
    case ..<52: try rename(path, to: other)
    case ..<57: try link(path, to: other)
    case ..<67: try open(path)
    case ..<75: try rewrite(content)
    case ..<83: close()
    case ..<89: try openAgain()
    case ..<92: try sync()
    case ..<95:
      note("limit")
      let used = store.blobs.values.reduce(0) { $0 + $1.count }
      store.limit(toBytes: UInt64(used + Int.random(in: 0..<150_000, using: &random)))
    default: try compare()
    }
  }

  private func place() -> String { Self.places.randomElement(using: &random) ?? "" }

  private func note(_ step: String) { steps.append(step) }

  private var context: Comment { "seed \(seed), after \(steps)" }

  // MARK: Steps

  private func save(_ path: String, _ content: [UInt8]) throws(FileError) {
    note("save \(path) \(content.count)")
    let file = names[path] ?? File()
    names[path] = file
    let before = file.content
    do throws(FileError) { try write(path, content) } catch {
      // Refused before anything was done, or after what was there was cut off; of a file that is open besides, what could not
      // be saved still shows.
      guard try tree.list(folder(of: path)).contains(name(of: path)) else {
        names[path] = nil
        throw error
      }
      let left = try tree.read(path)
      #expect(left == before || left.isEmpty || left == content, context)
      file.content = left
      throw error
    }
    file.content = content
  }

  private func write(_ path: String, _ content: [UInt8]) throws(FileError) {
    defer { if let inode = try? tree.find(path) { allInodes.insert(inode) } }
    try tree.write(path, content)
  }

  private func folder(of path: String) -> String { String(path.prefix(6)) }
  private func name(of path: String) -> String { String(path.dropFirst(7)) }

  private func replace(_ path: String, _ content: [UInt8]) throws(FileError) {
    note("replace \(path) \(content.count)")
    try write("Emma/new", content)
    try tree.rename("Emma/new", path)
    let file = File()
    file.content = content
    names[path] = file
  }

  private func remove(_ path: String) throws(FileError) {
    guard let file = names[path] else { return }
    note("remove \(path)")
    let inode = try tree.find(path)
    try tree.unlink(path)
    inodes.append((inode, file))
    names[path] = nil
  }

  private func rename(_ path: String, to other: String) throws(FileError) {
    guard let file = names[path], names[other] !== file else { return }
    note("rename \(path) \(other)")
    try tree.rename(path, other)
    names[path] = nil
    names[other] = file
  }

  private func link(_ path: String, to other: String) throws(FileError) {
    guard let file = names[path], names[other] == nil else { return }
    note("link \(path) \(other)")
    try tree.link(path, other)
    names[other] = file
  }

  private func open(_ path: String) throws(FileError) {
    guard let file = names[path], handles.count < 4 else { return }
    note("open \(path)")
    let inode = try tree.find(path)
    inodes.append((inode, file))
    handles.append((try tree.open(inode, [.read, .write]), file))
  }

  /// As through `/proc/self/fd`: the file may have no name any more.
  private func openAgain() throws(FileError) {
    guard let known = inodes.randomElement(using: &random), handles.count < 4 else { return }
    note("open again")
    handles.append((try tree.open(known.inode, [.read, .write]), known.file))
  }

  private func rewrite(_ content: [UInt8]) throws(FileError) {
    guard let (handle, file) = handles.randomElement(using: &random) else { return }
    note("rewrite \(content.count)")
    try handle.truncate(to: 0)
    file.content = []
    if !content.isEmpty { try handle.put(content, at: 0) }
    // It is what the file holds now, whether or not there is room for it yet.
    file.content = content
    try handle.flush()
  }

  private func close() {
    guard let index = handles.indices.randomElement(using: &random) else { return }
    note("close")
    handles.remove(at: index).handle.release()
  }

  private func sync() throws(FileError) {
    note("sync")
    if let (handle, _) = handles.randomElement(using: &random) { try handle.sync() }
    try tree.syncDirectory(tree.find("Emma/a"))
  }

  // MARK: Comparing

  private func compare() throws(FileError) {
    note("compare")
    for (handle, file) in handles {
      let found = try handle.get(at: 0, count: file.content.count + 1)
      #expect(found == file.content, context)
    }
    try compare(tree)
    try tree.commitNow()
    try compare(tree)
    #expect(throws: Never.self, context) {
      let again = try Vault.open(
        VaultCopy(id: id, store: store, state: StateFolder(store: stateStore), clock: .system),
        key: created.unlockKey, options: OpenOptions(readOnly: true))
      try compare(FileTree.load(vault: again, options: tree.options))
    }
  }

  private func compare(_ tree: FileTree) throws(FileError) {
    var found: Set<String> = []
    for folder in ["a", "b"] {
      for name in try tree.list("Emma/\(folder)") { found.insert("Emma/\(folder)/\(name)") }
    }
    #expect(found == Set(names.keys), context)
    for (path, file) in names {
      #expect(try tree.read(path) == file.content, "\(path): \(context)")
    }
  }

  /// Lets go of everything: then nothing waits that no file needs.
  func end() throws {
    store.limit(toBytes: nil)
    for (handle, _) in handles { handle.release() }
    handles = []
    try compare()
    #expect(try vault.check(readsData: true).problems == [], context)
    for inode in allInodes { tree.forget(inode, 1_000_000) }
    for member in vault.members {
      member.objects.removeUnused()
      #expect(member.objects.stagedCount == 0, context)
    }
    try vault.close()
  }
}
