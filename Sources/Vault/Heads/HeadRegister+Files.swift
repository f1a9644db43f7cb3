import BlobStore
import VaultCrypto
import VaultErrors
import VaultModel
import VaultObjects
import VaultPeople

/// What stands in the folder of a member's heads, and whose it is.
extension HeadRegister {
  /// The file of a device's head.
  typealias File = (device: DeviceID, fingerprint: UInt64)

  /// The files that are here, in the order in which heads are read.
  func files() throws(VaultError) -> [File] {
    inReadingOrder(
      try entries().compactMap { entry in
        DeviceID(hex: entry.name).map { (device: $0, fingerprint: entry.fingerprint) }
      })
  }

  /// This device first, then those of owners, each by its id.
  ///
  /// What an editor's head says of other devices' heads nobody else has signed: where both come at once, an owner's own
  /// word goes before it.
  func inReadingOrder(_ files: [File]) -> [File] {
    let (own, owners) = (context.device.id, witnesses.ownersDevices)
    return files.sorted { one, other in
      let ranks = [one, other].map { $0.device == own ? 0 : owners.contains($0.device) ? 1 : 2 }
      return (ranks[0], one.device) < (ranks[1], other.device)
    }
  }

  /// Files that are no device's head.
  func foreignFiles() throws(VaultError) -> [Problem] {
    try entries().filter { DeviceID(hex: $0.name) == nil }.map {
      .foreign(folder.appending($0.name).string)
    }
  }

  private func entries() throws(VaultError) -> [BlobEntry] {
    try storing(context.store.list(folder))
  }

  /// What heads are judged by, as it is here now: statements, and what a person has decided of them on this machine. What could
  /// not be read is none of it, and is news once it was.
  func statementMarks() throws(VaultError) -> StatementMarks {
    var marks: StatementMarks = [:]
    marks[.root] = try context.state.linkMemoryMark(of: member)
    try storing { () throws(BlobStoreError) in
      for folder: BlobPath in [
        "people", BlobPath("members/\(member.hex)/links"),
        BlobPath("members/\(member.hex)/wraps"),
      ] {
        try context.store.walk(under: folder, depth: 6) { path, entry in
          if let path, entry.kind == .blob { marks[path] = entry.fingerprint }
          return .goOn
        }
      }
    }
    for path in context.people.unread.keys { marks[path] = nil }
    for path in links.unread.keys { marks[path] = nil }
    return marks
  }

  // MARK: Whose they are

  /// Whether what stands in the place of this device's head is nothing that the device has signed: also its own head, which
  /// somebody without its key has spelled otherwise.
  var hasForgedOwnHead: Bool {
    get throws(VaultError) {
      do {
        _ = try judges(context.people, links).judge(context.device.id, in: context.signedFiles)
        return false
      } catch {
        guard case .damaged = error else { throw error }
        return true
      }
    }
  }

  /// Whether the head is of someone who could write the member once and may no more; false also where it does not hold.
  func isOfFormerWriter(_ device: DeviceID) throws(VaultError) -> Bool {
    try judges(context.people, links).isOfFormerWriter(device, in: context.signedFiles)
  }

  func judges(_ people: People, _ links: MemberLinks) -> HeadJudges {
    HeadJudges(people: people, links: links, current: keys.currentEpoch, own: context.device.id)
  }
}
