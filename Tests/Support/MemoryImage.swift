import BlobStore

/// What a disk holds, and what it would hold if the power went now.
///
/// The model is harsher than any journaling file system: since the last barrier, each name that was added or removed may
/// have reached the disk or not, on its own and in any order, and each file's bytes may be all there, cut
/// short, partly zeros, or missing. It keeps only the promises that every file system makes: a rename never loses
/// both names, and what `fsync` returned for stays.
struct MemoryImage {
  typealias Node = Int

  private struct File {
    var bytes: [UInt8]
    var isDurable: Bool
  }

  /// A name that was given to a node, or removed, and is not known to be on disk.
  private struct Change {
    let number: Int
    let path: BlobPath
    let node: Node?
    /// For the old name of a rename: the change that made the new one, which reaches the disk before or with it.
    let follows: Int?
  }

  private var files: [File] = []
  private(set) var names: [BlobPath: Node] = [:]
  /// For each folder how many blobs stand at or below each name in it.
  private(set) var counts: [BlobPath: [String: Int]] = [:]
  private var durableNames: [BlobPath: Node] = [:]
  private var pending: [Change] = []
  private var changeCount = 0

  func bytes(at path: BlobPath) -> [UInt8]? {
    names[path].map { files[$0].bytes }
  }

  /// What all blobs weigh, each as often as it has names. Every write of a vault asks for it.
  var byteCount: Int { names.values.reduce(0) { $0 + files[$1].bytes.count } }

  // MARK: Changing

  mutating func add(_ path: BlobPath, _ bytes: [UInt8], isDurable: Bool = false) {
    files.append(File(bytes: bytes, isDurable: isDurable))
    note(path, files.count - 1)
  }

  /// Whether the name and the size of the blob are on disk stays as it is; the bytes are.
  mutating func overwrite(_ path: BlobPath, at offset: Int, _ bytes: [UInt8]) {
    guard let node = names[path] else { return }
    files[node].bytes.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  mutating func link(_ path: BlobPath, to node: Node) {
    note(path, node)
  }

  mutating func remove(_ path: BlobPath) {
    note(path, nil)
  }

  mutating func rename(_ from: BlobPath, to: BlobPath) {
    guard from != to, let node = names[from] else { return }
    let added = note(to, node)
    note(from, nil, follows: added)
  }

  @discardableResult
  private mutating func note(_ path: BlobPath, _ node: Node?, follows: Int? = nil) -> Int {
    let step = (node == nil ? 0 : 1) - (names[path] == nil ? 0 : 1)
    if step != 0 { count(path, step) }
    names[path] = node
    changeCount += 1
    pending.append(Change(number: changeCount, path: path, node: node, follows: follows))
    return changeCount
  }

  private mutating func count(_ path: BlobPath, _ step: Int) {
    var below = path
    while let folder = below.parent {
      let count = (counts[folder]?[below.name] ?? 0) + step
      counts[folder, default: [:]][below.name] = count == 0 ? nil : count
      if counts[folder]?.isEmpty == true { counts[folder] = nil }
      below = folder
    }
  }

  // MARK: Durability

  mutating func syncEverything() {
    durableNames = names
    pending = []
    for index in files.indices { files[index].isDurable = true }
  }

  mutating func syncNames(in folder: BlobPath) {
    let wanted = Set(pending.filter { $0.path.parent == folder }.map(\.number))
    let needed = Set(pending.filter { wanted.contains($0.number) }.compactMap(\.follows))
    apply(wanted.union(needed))
  }

  /// Puts chosen changes on disk, in their order.
  private mutating func apply(_ numbers: Set<Int>) {
    for change in pending where numbers.contains(change.number) {
      durableNames[change.path] = change.node
    }
    pending.removeAll { numbers.contains($0.number) }
  }

  /// The disk after the power went: which of the possible ones, the generator decides.
  func afterPowerCut(_ random: inout SplitMix64) -> MemoryImage {
    var image = self
    let keepsNames = Double.random(in: 0...1, using: &random)
    var chosen: Set<Int> = []
    for change in pending {
      if let follows = change.follows, pending.contains(where: { $0.number == follows }),
        !chosen.contains(follows)
      {
        continue
      }
      if Double.random(in: 0...1, using: &random) < keepsNames { chosen.insert(change.number) }
    }
    image.apply(chosen)
    var result = MemoryImage()
    var copies: [Node: Node] = [:]
    for (path, node) in image.durableNames.sorted(by: { $0.key.string < $1.key.string }) {
      if let copy = copies[node] {
        result.link(path, to: copy)
      } else {
        let file = files[node]
        result.add(path, file.isDurable ? file.bytes : Self.tear(file.bytes, &random))
        copies[node] = result.files.count - 1
      }
    }
    result.syncEverything()
    return result
  }

  /// What may be left of bytes that were on their way.
  private static func tear(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    guard !bytes.isEmpty else { return bytes }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return bytes
    case 1: return []
    case 2: return Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &random)))
    default:
      // The length arrived, a part of the bytes did not.
      var torn = bytes
      let start = Int.random(in: 0..<bytes.count, using: &random)
      for index in start..<Int.random(in: (start + 1)...bytes.count, using: &random) {
        torn[index] = 0
      }
      return torn
    }
  }
}
