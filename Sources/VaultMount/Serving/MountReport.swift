import Glibc
import VaultFiles
import VaultModel

/// What a running mount says of itself, in its file in the state directory. No name of the vault is in it.
package struct MountReport: Hashable, Sendable {
  /// Something that the mount shows and that it could not make part of the vault.
  package struct Unsaved: Hashable, Sendable {
    /// Why, as a program that asks is told it.
    package var errno: Int32
    /// When that was found first, in milliseconds since 1970.
    package var since: UInt64
    package var member: MemberID
    /// Nil when it is all that was changed in the member.
    package var record: RecordID?
    /// Whether it is one file of the record.
    package var isFile = false
  }

  package var unsaved: [Unsaved] = []
}

extension MountReport {
  init(_ unsaved: [VaultFiles.Unsaved]) {
    self.unsaved = unsaved.map { one in
      let isFile = if case .file = one.extent { true } else { false }
      return Unsaved(
        errno: one.error.errno, since: one.since.milliseconds, member: one.member,
        record: one.extent.record, isFile: isFile)
    }.sorted { $0.since < $1.since }
  }

  /// A line for each thing, the oldest first.
  var lines: [String] {
    unsaved.map { one in
      var fields = ["unsaved", "\(one.errno)", "\(one.since)", one.member.hex]
      if let record = one.record { fields.append(record.hex) }
      if one.isFile { fields.append("file") }
      return fields.joined(separator: " ")
    }
  }

  /// Lines that say nothing known are passed over.
  init(lines: some Sequence<Substring>) {
    unsaved = lines.compactMap { line in
      let fields = line.split(separator: " ")
      guard fields.count >= 4, fields[0] == "unsaved", let errno = Int32(fields[1]),
        let since = UInt64(fields[2]), let member = MemberID(hex: fields[3])
      else { return nil }
      return Unsaved(
        errno: errno, since: since, member: member,
        record: fields.count > 4 ? RecordID(hex: fields[4]) : nil, isFile: fields.count > 5)
    }
  }
}
