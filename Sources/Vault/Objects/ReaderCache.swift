import VaultModel

/// The readers used last; their number bounds the open descriptors.
struct ReaderCache {
  private let capacity: Int
  private var readers: [ObjectName: (reader: ObjectReader, lastUse: UInt64)] = [:]
  private var uses: UInt64 = 0

  init(capacity: Int) { self.capacity = capacity }

  subscript(name: ObjectName) -> ObjectReader? {
    mutating get {
      guard let found = readers[name] else { return nil }
      uses += 1
      readers[name] = (found.reader, uses)
      return found.reader
    }
  }

  mutating func insert(_ reader: ObjectReader) {
    uses += 1
    readers[reader.name] = (reader, uses)
    guard readers.count > capacity else { return }
    // Drops the older half at once, so that insertions stay cheap on average.
    let median = readers.values.map(\.lastUse).sorted()[readers.count / 2]
    readers = readers.filter { $0.value.lastUse > median }
  }

  var all: [ObjectReader] { readers.values.map(\.reader) }

  mutating func remove(_ name: ObjectName) { readers[name] = nil }
}
