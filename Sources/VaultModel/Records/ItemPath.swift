/// The way from the root of an item tree to where a name belongs: sixteen steps of four bits.
struct ItemPath {
  private let hash: UInt64

  /// FNV-1a of the name, finished so that short names differ in the upper bits too.
  init(of name: FileName) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    name.withUnsafeBytes { bytes in
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    self.hash = hash ^ hash >> 33
  }

  /// The child that the path takes from a node at this depth, 0 to 15.
  func child(at depth: Int) -> Int { Int(hash >> UInt64(60 - 4 * depth) & 15) }

  /// The first `depth` steps, as the upper bits of a number; the rest are zero.
  func prefix(_ depth: Int) -> UInt64 {
    depth == 0 ? 0 : hash & ~UInt64(0) << UInt64(64 - 4 * depth)
  }
}

/// A place in an item tree: how deep, and by which steps.
package struct ItemPlace: Hashable, Sendable {
  static let root = ItemPlace(depth: 0, steps: 0)

  let depth: Int
  private let steps: UInt64

  private init(depth: Int, steps: UInt64) {
    self.depth = depth
    self.steps = steps
  }

  /// The place at this depth on the way to a name.
  init(on path: ItemPath, depth: Int) {
    self.init(depth: depth, steps: path.prefix(depth))
  }

  func child(_ index: Int) -> ItemPlace {
    ItemPlace(depth: depth + 1, steps: steps | UInt64(index) << UInt64(60 - 4 * depth))
  }

  /// Whether an item of this name belongs below this place.
  package func holds(_ name: FileName) -> Bool { ItemPath(of: name).prefix(depth) == steps }
}
