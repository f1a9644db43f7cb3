/// The database of Baloo, as far as paths go: an LMDB file (lmdb.h; `struct MDB_page` and `MDB_node` in mdb.c).
///
/// A record of a file has the file's number as its key, and as its value the number of the folder in which the file is
/// and the file's name. So no path stands anywhere in one piece. All pages are looked at, also those that are no
/// longer in use: what Baloo has deleted stays in them.
///
/// Whoever can write into the home chooses these bytes: every offset is checked, and what is kept of them has at most
/// the size of the file.
struct BalooIndex {
  private struct Record: Hashable {
    var number: UInt64
    var folder: UInt64
    var name: ArraySlice<UInt8>
  }

  private static let pageHeaderSize = 16
  private static let nodeHeaderSize = 8
  private static let keySize = 8
  /// Of flags of a page.
  private static let leaf: UInt16 = 0x02
  private static let leafOfKeysAlone: UInt16 = 0x20
  /// Where the first page has the size of pages, and which sizes LMDB knows.
  private static let pageSizeOffset = 40
  private static let pageSizes = 1 << 9...1 << 15
  /// The folder in which the root's folders are.
  private static let root: UInt64 = 0

  /// The names of which some paths consist. Records of other names are not kept.
  private let names: [ArraySlice<UInt8>]
  private var records: Set<Record> = []
  /// The folders in which something is.
  private var folders: Set<UInt64> = []
  /// Records of files in one folder often stand one behind the other.
  private var lastFolder: UInt64?

  /// Reads the whole file. What is no such database has no records.
  ///
  /// - Parameters:
  ///   - paths: The folders that `hasEntries` will be asked of, by their names from the root on.
  ///   - read: So many bytes from an offset on; fewer only at the end of the file.
  static func load<Failure: Error>(
    for paths: [[ArraySlice<UInt8>]],
    read: (_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> BalooIndex {
    var index = BalooIndex(names: Array(Set(paths.joined())))
    try index.addAll(read)
    return index
  }

  private init(names: [ArraySlice<UInt8>]) { self.names = names }

  private mutating func addAll<Failure: Error>(
    _ read: (_ offset: UInt64, _ count: Int) throws(Failure) -> [UInt8]
  ) throws(Failure) {
    let head = try read(0, Self.pageSizeOffset + 4)
    guard head.count == Self.pageSizeOffset + 4 else { return }
    let pageSize = head.withUnsafeBytes {
      Int(Self.integer(UInt32.self, $0, at: Self.pageSizeOffset))
    }
    guard Self.pageSizes.contains(pageSize), pageSize & (pageSize - 1) == 0 else { return }
    let partByteCount = max(pageSize, 1 << 20)
    var number: UInt64 = 0
    while true {
      let part = try read(number * UInt64(pageSize), partByteCount)
      part.withUnsafeBytes { bytes in
        for start in stride(from: 0, through: bytes.count - pageSize, by: pageSize) {
          page(UnsafeRawBufferPointer(rebasing: bytes[start..<start + pageSize]), number)
          number += 1
        }
      }
      guard part.count == partByteCount else { return }
    }
  }

  /// Whether something is noted of what is in a folder.
  func hasEntries(below path: [ArraySlice<UInt8>]) -> Bool {
    var numbers: Set<UInt64> = [Self.root]
    for name in path {
      // A name can stand for several folders: the one that was mounted upon, and what was mounted.
      numbers = Set(
        records.filter { $0.name == name && numbers.contains($0.folder) }.map(\.number))
    }
    return !numbers.isDisjoint(with: folders)
  }

  private mutating func page(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) {
    let flags = Self.integer(UInt16.self, bytes, at: 10)
    // What continues a long value on further pages has no number of its own.
    guard Self.integer(UInt64.self, bytes, at: 0) == number, flags & Self.leaf != 0,
      flags & Self.leafOfKeysAlone == 0
    else { return }
    let end = min(Int(Self.integer(UInt16.self, bytes, at: 12)), bytes.count)
    for offset in stride(from: Self.pageHeaderSize, to: end - 1, by: 2) {
      let start = Int(Self.integer(UInt16.self, bytes, at: offset))
      if start <= bytes.count { node(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
    }
  }

  private mutating func node(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > Self.nodeHeaderSize + Self.keySize + 8 else { return }
    let byteCount =
      Int(Self.integer(UInt16.self, bytes, at: 0))
      | Int(Self.integer(UInt16.self, bytes, at: 2)) << 16
    let isPlain = Self.integer(UInt16.self, bytes, at: 4) == 0
    guard isPlain, Int(Self.integer(UInt16.self, bytes, at: 6)) == Self.keySize,
      byteCount > 8, byteCount <= bytes.count - Self.nodeHeaderSize - Self.keySize
    else { return }
    let value = bytes[(Self.nodeHeaderSize + Self.keySize)...].prefix(byteCount)
    let name = value.dropFirst(8)
    // Other records have keys of eight bytes too; those of files have a name in them.
    guard !name.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") }) else { return }
    let folder = Self.integer(UInt64.self, bytes, at: value.startIndex)
    if folder != lastFolder { folders.insert(folder) }
    lastFolder = folder
    guard let known = names.first(where: { $0.elementsEqual(name) }) else { return }
    let number = Self.integer(UInt64.self, bytes, at: Self.nodeHeaderSize)
    records.insert(Record(number: number, folder: folder, name: known))
  }

  private static func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
    _ type: Integer.Type, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) -> Integer {
    Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
  }
}
