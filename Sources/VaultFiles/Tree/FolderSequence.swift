import VaultModel

/// Notices that what is in a folder is read one after the other, in the order in which it is listed, and says what comes next:
/// the slices of a scan, the pages of a document, a folder that is copied, or looked through with all that is in it. A value
/// without I/O.
struct FolderSequence {
  /// Of files so many are named before they are read, half of them at a time.
  static let filesAhead = 32
  /// Of folders fewer: nobody knows how much is in them.
  static let foldersAhead = 8

  /// So many names are told before they are read, half of them at a time.
  let namesAhead: Int
  /// Between two that are read some may be passed over.
  private static let gapLimit = 3

  /// All names in order; none while nobody reads in order.
  private var names: [FileName] = []
  private var last: FileName?
  private var position = 0
  private var askedEnd = 0
  private var run = 0
  /// So many reads in order are taken for no accident; four times as many after each time that they were one.
  private var patience = 4
  /// Whether one came next to the other since the names were put in order.
  private var isProven = false

  init(namesAhead: Int = filesAhead) { self.namesAhead = namesAhead }

  /// To be told of every file that is read from its beginning, or every folder.
  ///
  /// - Parameter all: All names in the folder, in any order; asked for seldom.
  /// - Returns: The names that will be wanted soon and were not told before.
  mutating func read(_ name: FileName, among all: () -> [FileName]) -> ArraySlice<FileName> {
    defer { last = name }
    guard let last, last < name else {
      beginAnew()
      return []
    }
    run += 1
    guard run >= patience else { return [] }
    if names.isEmpty {
      names = all().sorted()
      position = index(of: last)
      askedEnd = 0
      isProven = false
    }
    let before = position
    position = index(of: name)
    guard position < names.count, names[position] == name, position - before <= Self.gapLimit else {
      // Others come between, or the folder has changed. Putting all names in order is not done often in vain.
      if !isProven { patience *= 4 }
      beginAnew()
      return []
    }
    isProven = true
    let start = max(position + 1, askedEnd)
    guard start - position <= namesAhead / 2 else { return [] }
    let end = min(position + 1 + namesAhead, names.count)
    guard start < end else { return [] }
    askedEnd = end
    return names[start..<end]
  }

  private mutating func beginAnew() {
    run = 0
    names = []
  }

  /// Where the name is in `names`, or would be.
  private func index(of name: FileName) -> Int {
    var (low, high) = (0, names.count)
    while low < high {
      let middle = (low + high) / 2
      if names[middle] < name { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
