import VaultModel

/// The readers used last; their number bounds the open descriptors.
struct ReaderCache {
  private let capacity: Int
  private var readers: [ContentDigest: (reader: ObjectReader, lastUse: UInt64)] = [:]
  /// Whose files have these names.
  private var digests: [ObjectName: ContentDigest] = [:]
  private var uses: UInt64 = 0

  init(capacity: Int) { self.capacity = capacity }

  subscript(digest: ContentDigest) -> ObjectReader? {
    mutating get {
      guard let found = readers[digest] else { return nil }
      uses += 1
      readers[digest] = (found.reader, uses)
      return found.reader
    }
  }

  mutating func insert(_ reader: ObjectReader) {
    remove(reader.digest)
    uses += 1
    readers[reader.digest] = (reader, uses)
    digests[reader.name] = reader.digest
    guard readers.count > capacity else { return }
    // Drops the older half at once, so that insertions stay cheap on average.
    let median = readers.values.map(\.lastUse).sorted()[readers.count / 2]
    for old in readers.values where old.lastUse <= median { remove(old.reader.digest) }
  }

  var all: [ObjectReader] { readers.values.map(\.reader) }

  mutating func remove(_ digest: ContentDigest) {
    guard let found = readers.removeValue(forKey: digest) else { return }
    digests[found.reader.name] = nil
  }

  mutating func remove(_ name: ObjectName) {
    if let digest = digests[name] { remove(digest) }
  }
}
