import Glibc
import SystemPackage
import TestSupport

/// What programs do in a mount.
extension RealSchedule {
  /// One to three things.
  mutating func work(on number: Int, onFullDisk: Bool = false) throws {
    try mount(number)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      do { try change(on: number) } catch let failure as CallFailure {
        guard onFullDisk, failure.errno == ENOSPC else { throw failure }
        log("  \(failure)")
      }
    }
  }

  private mutating func change(on number: Int) throws {
    let emma = machines[number].emma
    let tree = try ShownTree(reading: emma)
    let own = tree.files.filter { !$0.contains("Offline Sync Conflicts") }
    let folders = tree.folders.filter { !$0.contains("Offline Sync Conflicts") }
    let folder = folders.randomElement(using: &random).map { "\($0)/" } ?? ""
    let new = folder + (["a", "b", "c", "d"].randomElement(using: &random) ?? "a")
    let file = own.randomElement(using: &random)
    // What a mount shows that syncs by itself may be another file by the time it is replaced.
    let mayReplace = !syncing.contains(number)
    let what = Int.random(in: 0..<(seed >= Seeds.widened ? 16 : 12), using: &random)
    func path(_ name: String) -> String { emma.appending(name).string }
    func note(_ text: String) { log("\(machines[number].name): \(text)") }
    switch what {
    case 0...2:
      if tree.entries[new] == nil || (own.contains(new) && mayReplace) {
        try write(new, over: tree, on: number)
      }
    case 3:
      guard tree.entries[new] == nil else { return }
      note("mkdir \(new)")
      try CallFailure.check(mkdir(path(new), 0o755), "mkdir", new)
    case 4:
      // As editors save.
      guard let file, mayReplace else { return }
      let text = try write("\(file).new", over: tree, on: number)
      note("renames \(file).new with \(text) to \(file)")
      try CallFailure.check(rename(path("\(file).new"), path(file)), "rename", file)
      ledger.replace(tree.entries[file]?.text.ledgerText)
    case 5:
      guard let file, mayReplace, tree.entries[new] == nil else { return }
      note("renames \(file) to \(new)")
      try CallFailure.check(rename(path(file), path(new)), "rename", file)
    case 6:
      guard let file, mayReplace else { return }
      note("removes \(file)")
      ledger.replace(tree.entries[file]?.text.ledgerText)
      try CallFailure.check(unlink(path(file)), "unlink", file)
    case 7:
      guard let file, mayReplace, tree.entries[new] == nil else { return }
      note("links \(file) as \(new)")
      try CallFailure.check(link(path(file), path(new)), "link", file)
    case 8:
      guard tree.entries[new] == nil else { return }
      note("writes what is elsewhere too to \(new)")
      try store(Array("the same everywhere".utf8), in: path(new), syncs: true)
    case 9...10:
      guard let file, mayReplace else { return }
      try rewritePages(of: file, in: tree, on: number)
    case 12...13:
      let empty = folders.filter { folder in
        !tree.entries.keys.contains { $0.hasPrefix("\(folder)/") }
      }
      guard let gone = empty.randomElement(using: &random), mayReplace else { return }
      note("removes the empty folder \(gone)")
      try CallFailure.check(rmdir(path(gone)), "rmdir", gone)
    case 14...15:
      guard let changed = (own + folders).randomElement(using: &random), mayReplace else { return }
      let mode: mode_t = [0o700, 0o750, 0o755].randomElement(using: &random) ?? 0o700
      note("gives \(changed) the mode \(String(mode, radix: 8))")
      try CallFailure.check(chmod(path(changed), mode), "chmod", changed)
    default:
      guard let moved = folders.randomElement(using: &random), mayReplace else { return }
      guard tree.entries[new] == nil, !new.hasPrefix("\(moved)/") else { return }
      note("renames folder \(moved) to \(new)")
      try CallFailure.check(rename(path(moved), path(new)), "rename", moved)
    }
  }

  /// A new text, small or large, with `fsync` or without.
  @discardableResult
  private mutating func write(
    _ name: String, over tree: ShownTree, on number: Int
  ) throws -> String {
    let text = ledger.newText()
    let syncs = Bool.random(using: &random)
    let size = [0, 0, 0, 5_000, 200_000].randomElement(using: &random) ?? 0
    log("\(machines[number].name): writes \(text) to \(name)\(syncs ? ", synced" : "")")
    // It is gone as soon as the file is opened, whatever becomes of the new one.
    ledger.replace(tree.entries[name]?.text.ledgerText)
    let path = machines[number].emma.appending(name).string
    try store(Array("\(text)\n".utf8) + random.bytes(size), in: path, syncs: syncs)
    ledger.write(text, on: number, isSaved: syncs)
    return text
  }

  private func store(_ bytes: [UInt8], in path: String, syncs: Bool) throws {
    let file = try CallFailure.check(
      open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644), "open", path)
    do {
      try Self.write(bytes, at: 0, to: file, path)
      if syncs { try CallFailure.check(fsync(file), "fsync", path) }
    } catch {
      close(file)
      throw error
    }
    try CallFailure.check(close(file), "close", path)
  }

  private static func write(
    _ bytes: [UInt8], at offset: Int, to file: Int32, _ path: String
  ) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        pwrite(file, $0.baseAddress, $0.count, off_t(offset + bytes.count - rest.count))
      }
      try CallFailure.check(count < 0 ? -1 : 0, "write", path)
      rest = rest.dropFirst(count)
    }
  }

  /// As SQLite does: some pages anew in their place, synced, then the first one, synced.
  private mutating func rewritePages(
    of name: String, in tree: ShownTree, on number: Int
  ) throws {
    let text = ledger.newText()
    log("\(machines[number].name): rewrites pages of \(name) for \(text)")
    ledger.replace(tree.entries[name]?.text.ledgerText)
    let path = machines[number].emma.appending(name).string
    let file = try CallFailure.check(open(path, O_RDWR | O_CLOEXEC), "open", path)
    do {
      for _ in 0..<3 {
        let page = Int.random(in: 1..<20, using: &random)
        try Self.write(random.bytes(4096), at: page * 4096, to: file, path)
      }
      try CallFailure.check(fdatasync(file), "fdatasync", path)
      let header = Array("\(text)\n".utf8)
      try Self.write(
        header + [UInt8](repeating: 0, count: 4096 - header.count), at: 0, to: file, path)
      try CallFailure.check(fdatasync(file), "fdatasync", path)
    } catch {
      close(file)
      throw error
    }
    try CallFailure.check(close(file), "close", path)
    ledger.write(text, on: number, isSaved: true)
  }
}

extension String {
  /// The text of a ledger with which a file begins that is this.
  fileprivate var ledgerText: String? { LedgerText.in(Array(utf8)) }
}
