/// The names under which the records of one directory show.
///
/// Titles need not differ: two devices may each make a record of one title, or one a record and the
/// other a file. A directory's names must, so all but one get a part of the record's id.
package enum VisibleNames {
  /// The name under which each record shows, where that is not its title.
  ///
  /// Of the records of one title the one with the smallest id keeps it, unless a file has it; the
  /// others show as `Title (1a2b3c4d)`, the title cut so that the name stays within 255 bytes. The result
  /// depends on nothing but ids, titles and the names of files, so it does not change when a record is edited.
  /// - Parameters:
  ///   - records: the live records of one directory.
  ///   - isFile: whether a file of that directory has this name.
  package static func exceptions(
    among records: [RecordEntry], isFile: (FileName) -> Bool
  ) -> [RecordID: FileName] {
    var keepers: [FileName: RecordID] = [:]
    keepers.reserveCapacity(records.count)
    for record in records {
      if let keeper = keepers[record.title], keeper < record.record { continue }
      keepers[record.title] = record.record
    }
    let others = records.filter { keepers[$0.title] != $0.record || isFile($0.title) }
    var given: Set<FileName> = []
    var result: [RecordID: FileName] = [:]
    for record in others.sorted(by: { $0.record < $1.record }) {
      let name = candidates(record.title, record.record).first {
        keepers[$0] == nil && !isFile($0) && !given.contains($0)
      }
      guard let name else { preconditionFailure("the candidates have no end") }
      given.insert(name)
      result[record.record] = name
    }
    return result
  }

  /// `Title (<8 digits>)`, then with all digits of the id, then with a number after them: someone may have
  /// given another one just that title.
  package static func candidates(
    _ title: FileName, _ id: some FixedBytes
  ) -> some Sequence<FileName> {
    sequence(state: 0) { (attempt: inout Int) -> FileName? in
      defer { attempt += 1 }
      let tag =
        switch attempt {
        case 0: id.shortHex
        case 1: id.hex
        default: "\(id.hex)-\(attempt)"
        }
      return title.appending(" (\(tag))")
    }
  }
}

extension FileName {
  /// The name with `suffix` at its end, cut before that so that it is no longer than a name may be;
  /// a character of UTF-8 is cut as a whole. The suffix must be shorter than a name may be.
  package func appending(_ suffix: String) -> FileName {
    var kept = bytes
    let room = Limits.nameBytes - suffix.utf8.count
    if kept.count > room {
      var end = room
      while end > 0, kept[end] & 0xc0 == 0x80, room - end < 3 { end -= 1 }
      // What is no UTF-8 has no characters to keep whole.
      if kept[end] & 0xc0 == 0x80 { end = room }
      kept.removeSubrange(end...)
    }
    guard let name = FileName(kept + suffix.utf8) else {
      preconditionFailure("the suffix is not a part of a name")
    }
    return name
  }
}
