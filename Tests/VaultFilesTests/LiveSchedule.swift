import TestSupport
import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// Two devices that share a folder, each with a mount and with commands that come and go, all of which change things at
/// random. A mount has some of its changes in no commit yet when others' commits come.
///
/// From `Seeds.widened` on programs have files open in the mounts all the time, and write to them after news:
/// `LiveSchedule+Held.swift`. Lower seeds give the schedules that they always gave.
struct LiveSchedule {
  private let mounted: MountedVault
  private let otherDevice: MountedVault.OtherDevice
  /// The mounts of the two devices.
  let trees: [FileTree]
  var random: SplitMix64
  var trace: [String] = []
  private var textCount = 0
  /// Files that programs have open, and what they have written.
  var held: [HeldFile] = []
  var heldTexts = HeldTexts()
  private let holdsFiles: Bool

  init(seed: UInt64) throws {
    holdsFiles = seed >= Seeds.widened
    // Every second one forgets folders all the time.
    mounted = try MountedVault { if seed % 2 == 1 { $0.loadedItemLimit = 6 } }
    random = SplitMix64(seed: seed)
    try mounted.tree.mkdir("Emma")
    try mounted.tree.commitNow()
    otherDevice = try mounted.enrolAnotherDevice()
    trees = [
      mounted.tree, FileTree.load(vault: try otherDevice.open(), options: mounted.options),
    ]
  }

  mutating func step() throws {
    let device = Int.random(in: 0..<2, using: &random)
    switch Int.random(in: 0..<(holdsFiles ? 14 : 8), using: &random) {
    case 8...9: try hold(on: device)
    case 10...11: try writeHeld()
    case 12: try meddleWithHeld()
    case 13: releaseHeld()
    case 0...3: try change(trees[device], "\(device)")
    case 4:
      trace.append("\(device) commits")
      try trees[device].commitNow()
    default:
      let vault = try device == 0 ? mounted.openAgain() : otherDevice.open()
      let command = FileTree.load(vault: vault, options: mounted.options)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        try change(command, "a command on \(device)")
      }
      command.refresh()
      try command.commitNow()
      try vault.close()
    }
  }

  /// Has the mounts commit and catch up, and compares the first one with a fresh one.
  mutating func differences() throws -> [String] {
    for tree in [trees[1], trees[0]] { tree.refresh() }
    guard Int.random(in: 0..<3, using: &random) == 0 else { return [] }
    for tree in [trees[1], trees[0]] { try tree.commitNow() }
    // What the first one joined last, the second has not seen; nobody writes any more.
    trees[1].refresh()
    trees[0].refresh()
    trace.append("compared")
    let differences = try mounted.differencesFromFresh()
    return try holdsFiles
      ? differences + heldTexts.missing(in: trees[0].snapshot()) : differences
  }

  private mutating func change(_ tree: FileTree, _ who: String) throws {
    let all = try tree.snapshot()
    let conflicts = "Emma/\(ConflictMark.folderTitle)"
    let shown = all.filter { !$0.key.hasPrefix(conflicts) }
    let folders = shown.filter { $0.value.content == nil }.keys.sorted()
    let files = shown.filter { $0.value.content != nil }.keys.sorted()
    let folder = folders.randomElement(using: &random) ?? "Emma"
    let name = ["a", "b", "c"].randomElement(using: &random) ?? "a"
    let target = "\(folder)/\(name)"
    textCount += 1
    // Contents repeat.
    let number = Bool.random(using: &random) ? textCount : textCount % 2
    let text = String(repeating: "text \(number) ", count: name == "c" ? 9000 : 1)
    let what = Int.random(in: 0..<11, using: &random)
    trace.append("\(who): \(what) \(target)")
    switch what {
    case 0...1: if all[target] == nil { try tree.mkdir(target) }
    case 2...3:
      guard all[target] == nil || files.contains(target) else { return }
      heldTexts.replace(all[target])
      try tree.write(target, text)
    case 4:
      guard let file = files.randomElement(using: &random) else { return }
      trace[trace.count - 1] += " from \(file)"
      if all[target] == nil { try tree.rename(file, target) }
    case 5:
      guard let moved = folders.dropFirst().randomElement(using: &random),
        !target.hasPrefix("\(moved)/"), all[target] == nil
      else { return }
      trace[trace.count - 1] += " from \(moved)"
      try tree.rename(moved, target)
    case 6:
      guard let file = files.randomElement(using: &random) else { return }
      trace[trace.count - 1] += " removes \(file)"
      try noteRemoval(of: file, all[file], in: tree)
      try tree.unlink(file)
    case 7:
      guard folder != "Emma" else { return }
      // As `rm -r` does, what is deepest first.
      let inside = all.filter { $0.key == folder || $0.key.hasPrefix("\(folder)/") }
      for (path, thing) in inside.sorted(by: { $0.key.utf8.count > $1.key.utf8.count }) {
        try noteRemoval(of: path, thing, in: tree)
        try thing.content == nil ? tree.rmdir(path) : tree.unlink(path)
      }
    case 8...9:
      guard let file = files.randomElement(using: &random), all[target] == nil else { return }
      trace[trace.count - 1] += " links \(file)"
      try tree.link(file, target)
    default:
      let path = (files + folders.dropFirst()).randomElement(using: &random)
      guard let path else { return }
      trace[trace.count - 1] += " attributes of \(path)"
      let inode = try tree.find(path)
      let mode: UInt32 = Bool.random(using: &random) ? 0o750 : 0o700
      let change = AttributeChange(mode: mode, modified: .to(.now))
      _ = try tree.setAttributes(inode, change, through: nil)
      let value = Array(text.utf8.prefix(20))
      try tree.setXattr(inode, Array("user.note".utf8), value, mode: .createOrReplace)
    }
  }
}
