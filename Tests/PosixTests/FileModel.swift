import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// A file beside the array of bytes that it should equal.
final class FileModel {
  /// Three chunks and a bit.
  static let sizeLimit = (3 << 20) + 5000

  private let path: FilePath
  private var file: OpenFile
  private var expected: [UInt8] = []
  private var steps: [String] = []

  init(path: FilePath) throws {
    self.path = path
    file = try OpenFile.create(path)
  }

  func reopen() throws { file = try OpenFile(path, O_RDWR) }

  /// Writes, truncates, allocates, punches, syncs or reads somewhere, mostly near a boundary.
  func performRandomStep(_ random: inout SeededRandom) throws {
    let offset = Self.offset(&random)
    let count = min(Self.count(&random), Self.sizeLimit - offset)
    switch Int.random(in: 0..<100, using: &random) {
    case ..<45: try write(random.bytes(count), at: offset)
    case ..<60: try truncate(to: offset)
    case ..<66: try allocate(0, at: offset, count: count)
    case ..<74: try punch(at: offset, count: count)
    case ..<80:
      note("fsync")
      try file.sync()
    case ..<84:
      note("reopen")
      try reopen()
    default: try compare(at: offset, count: count)
    }
  }

  func compareWhole() throws {
    try #require(try file.status().st_size == expected.count, "after \(steps)")
    expectSame(try path.contents(), expected, "after \(steps)")
  }

  private func write(_ bytes: [UInt8], at offset: Int) throws {
    note("write \(offset)+\(bytes.count)")
    try file.write(bytes, at: offset)
    guard !bytes.isEmpty else { return }
    grow(to: offset + bytes.count)
    expected.replaceSubrange(offset..<offset + bytes.count, with: bytes)
  }

  private func truncate(to size: Int) throws {
    note("truncate \(size)")
    try file.truncate(to: size)
    if size < expected.count { expected.removeSubrange(size...) }
    grow(to: size)
  }

  private func allocate(_ mode: Int, at offset: Int, count: Int) throws {
    guard count > 0 else { return }
    note("allocate \(offset)+\(count)")
    try file.allocate(mode, at: offset, count: count)
    grow(to: offset + count)
  }

  private func punch(at offset: Int, count: Int) throws {
    guard count > 0 else { return }
    note("punch \(offset)+\(count)")
    try file.allocate(
      PX_FALLOC_PUNCH_HOLE | PX_FALLOC_KEEP_SIZE, at: offset, count: count)
    let hole = min(offset, expected.count)..<min(offset + count, expected.count)
    expected.replaceSubrange(hole, with: repeatElement(0, count: hole.count))
  }

  private func compare(at offset: Int, count: Int) throws {
    let end = min(offset + count, expected.count)
    let wanted = offset < end ? Array(expected[offset..<end]) : []
    let found = try file.read(at: offset, count: count)
    expectSame(found, wanted, "reading \(offset)+\(count) after \(steps)")
  }

  private func grow(to size: Int) {
    if size > expected.count {
      expected += [UInt8](repeating: 0, count: size - expected.count)
    }
  }

  private func note(_ step: String) { steps.append(step) }

  private static func offset(_ random: inout SeededRandom) -> Int {
    let base = [0, 4096, 16384, 1 << 20, 2 << 20, 3 << 20].randomElement(using: &random)!
    let near = Bool.random(using: &random)
    return max(
      0,
      base
        + (near ? Int.random(in: -3...3, using: &random) : Int.random(in: 0..<4000, using: &random))
    )
  }

  private static func count(_ random: inout SeededRandom) -> Int {
    let limit = [1, 10, 4096, 16384, 200_000, 1_200_000].randomElement(using: &random)!
    return Int.random(in: 0...limit, using: &random)
  }
}
