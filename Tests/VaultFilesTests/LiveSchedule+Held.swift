import TestSupport
import VaultModel

@testable import VaultFiles

/// Files that stay open in a mount while others rename, remove and replace them. What a program writes then, and is not told to be
/// lost, is shown under some name until somebody who sees it replaces or removes it.
extension LiveSchedule {
  /// One that a program has open in a mount.
  struct HeldFile {
    let device: Int
    let handle: FileHandle
    let inode: Inode
    /// Where it was when it was opened.
    let path: String
    /// Whether one of its names was removed in this mount: then it may stay away whatever is written to it.
    var isRemovedHere = false
  }

  mutating func hold(on device: Int) throws {
    let tree = trees[device]
    let files = try shownFiles(in: tree)
    guard held.count < 4, let path = files.randomElement(using: &random) else { return }
    trace.append("\(device) opens \(path)")
    let handle = try tree.open(path)
    let inode = try handle.attributes().inode
    held.append(HeldFile(device: device, handle: handle, inode: inode, path: path))
  }

  mutating func writeHeld() throws {
    guard let index = held.indices.randomElement(using: &random) else { return }
    try write(to: index)
  }

  /// Writes another text in place of all, and closes a descriptor or asks for it to be on disk.
  private mutating func write(to index: Int) throws {
    let file = held[index]
    let handle = file.handle
    let before = try handle.get(at: 0, count: Int(handle.attributes().size))
    let text = heldTexts.newText()
    let isDurable = Bool.random(using: &random)
    trace.append(
      "\(file.device) writes \(text) to what was \(file.path)\(isDurable ? ", synced" : "")")
    heldTexts.replace(before)
    do {
      try handle.truncate(to: 0)
      try handle.put(Array(text.utf8), at: 0)
      if isDurable { try handle.sync() } else { try handle.flush() }
    } catch FileError.stale {
      // The program is told that what it wrote has no name, and gives up.
      trace.append("  stale")
      held.remove(at: index).handle.release()
      return heldTexts.replace(Array(text.utf8))
    }
    if file.isRemovedHere { heldTexts.replace(Array(text.utf8)) }
  }

  /// The other device renames, removes or replaces a file that is open here; then the program writes, with or without a look
  /// for news before.
  mutating func meddleWithHeld() throws {
    guard let index = held.indices.randomElement(using: &random) else { return }
    let file = held[index]
    let (tree, other) = (trees[file.device], trees[1 - file.device])
    try tree.commitNow()
    other.refresh()
    let all = try other.snapshot()
    let number = Int.random(in: 0..<1000, using: &random)
    let (moved, new) = ("Emma/moved \(number)", "Emma/new \(number)")
    guard all[file.path]?.content != nil, all[moved] == nil, all[new] == nil else { return }
    let what = Int.random(in: 0..<4, using: &random)
    trace.append("\(1 - file.device) meddles with \(file.path), open at \(file.device): \(what)")
    switch what {
    case 0...1: try other.rename(file.path, moved)
    case 2:
      try noteRemoval(of: file.path, all[file.path], in: other)
      try other.unlink(file.path)
    default:
      try noteRemoval(of: file.path, all[file.path], in: other)
      try other.write(new, "another file")
      try other.rename(new, file.path)
    }
    try other.commitNow()
    if Bool.random(using: &random) { tree.refresh() }
    try write(to: index)
  }

  mutating func releaseHeld() {
    guard let index = held.indices.randomElement(using: &random) else { return }
    trace.append("\(held[index].device) closes what was \(held[index].path)")
    held.remove(at: index).handle.release()
  }

  /// A name is about to be removed in a tree.
  mutating func noteRemoval(of path: String, _ thing: ShownThing?, in tree: FileTree) throws {
    heldTexts.replace(thing)
    guard held.contains(where: { trees[$0.device] === tree }) else { return }
    let inode = try tree.find(path)
    for index in held.indices where trees[held[index].device] === tree {
      if held[index].inode == inode { held[index].isRemovedHere = true }
    }
  }

  private func shownFiles(in tree: FileTree) throws -> [String] {
    let conflicts = "Emma/\(ConflictMark.folderTitle)"
    return try tree.snapshot().filter { $0.value.content != nil && !$0.key.hasPrefix(conflicts) }
      .keys.sorted()
  }
}

/// Texts that programs have written to files that they had open, each of them once, and that have to be shown.
struct HeldTexts {
  private var wanted: Set<String> = []
  private var count = 0

  mutating func newText() -> String {
    count += 1
    wanted.insert("held \(count)")
    return "held \(count)"
  }

  /// Somebody who saw this replaces or removes it.
  mutating func replace(_ thing: ShownThing?) {
    if let content = thing?.content { replace(content) }
  }

  mutating func replace(_ content: [UInt8]) {
    wanted.remove(String(decoding: content, as: UTF8.self))
  }

  func missing(in shown: [String: ShownThing]) -> [String] {
    let texts = Set(shown.values.compactMap(\.content).map { String(decoding: $0, as: UTF8.self) })
    return wanted.subtracting(texts).sorted().map { "\($0) is lost" }
  }
}
