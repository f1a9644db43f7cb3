/// Says of a record in the member's `Offline Sync Conflicts` which version it keeps: of which record, written by
/// which device, when. `Docs/Format.md` section 10.
///
/// It stands in an extended attribute of the record, so that any program can read it from the mount.
package struct ConflictMark: Hashable, Sendable {
  /// The record that lost a version.
  package var record: RecordID
  /// The device that wrote the version.
  package var device: DeviceID
  /// When it was written.
  package var time: HybridTime

  package init(record: RecordID, device: DeviceID, time: HybridTime) {
    self.record = record
    self.device = device
    self.time = time
  }

  /// The extended attribute's name.
  package static let xattrName = Array("user.kinvault.conflict".utf8)
  /// What the record is called that holds all of a member's conflicts.
  package static let folderTitle = "Offline Sync Conflicts"

  package var xattr: Xattr {
    Xattr(
      name: Self.xattrName,
      value: Array("record=\(record.hex) device=\(device.hex) time=\(time.rawValue)".utf8))
  }

  /// The mark among these attributes; nil if there is none, or it does not parse.
  package init?(_ xattrs: [Xattr]) {
    guard let xattr = xattrs.first(where: { $0.name == Self.xattrName }) else { return nil }
    var values: [Substring: Substring] = [:]
    for part in String(decoding: xattr.value, as: UTF8.self).split(separator: " ") {
      let pair = part.split(separator: "=", maxSplits: 1)
      guard pair.count == 2, values.updateValue(pair[1], forKey: pair[0]) == nil else { return nil }
    }
    guard let record = values["record"].flatMap({ RecordID(hex: String($0)) }),
      let device = values["device"].flatMap({ DeviceID(hex: String($0)) }),
      let time = values["time"].flatMap({ UInt64($0) }).map(HybridTime.init(rawValue:)),
      time <= .last
    else { return nil }
    self.init(record: record, device: device, time: time)
  }

  /// What the version is called that was called `title`: `title - offline conflict 2026-03-01 081500`, in UTC, the
  /// title cut so that the name stays within 255 bytes.
  package func title(for title: FileName) -> FileName { title.appending(titleEnd) }

  /// What the version was called that has this title as a copy.
  package func original(of title: FileName) -> FileName {
    let end = Array(titleEnd.utf8)
    guard title.bytes.suffix(end.count).elementsEqual(end) else { return title }
    return FileName(Array(title.bytes.dropLast(end.count))) ?? title
  }

  private var titleEnd: String {
    " - offline conflict \(CivilTime(milliseconds: time.milliseconds).stamp)"
  }
}
