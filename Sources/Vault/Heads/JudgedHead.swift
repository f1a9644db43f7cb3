import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A head's file that its device has signed, and the verdict of `HeadJudges` on it: the vault says it in these words.
struct JudgedHead: Sendable {
  let body: HeadFile
  let hash: FileHash
  let verdict: HeadVerdict
  /// Whether its device was left out by whoever certified it: that is said of the device, not of its heads.
  let isOfFormerDevice: Bool
  /// Whether its person could write the member at some time, or was right to believe so.
  let couldWrite: Bool

  /// The epoch that it is sealed in, if that is another than the one that is written under here.
  var late: StatementID? {
    if case .late(let epoch) = verdict { epoch } else { nil }
  }

  /// Whether it counts, in whichever epoch.
  var counts: Bool {
    switch verdict {
    case .counts, .late: true
    case .waiting, .former, .reader, .stranger: false
    }
  }

  /// Whether it may count once something has come.
  var isWaiting: Bool {
    if case .waiting = verdict { true } else { false }
  }

  /// Whether it is of someone who could write the member once and may no more: it counts for nothing, and nobody is to be
  /// blamed for it.
  var isOfFormerWriter: Bool {
    if isOfFormerDevice { return false }
    return switch verdict {
    case .former: true
    case .reader, .stranger: couldWrite
    case .counts, .late, .waiting: false
    }
  }

  /// - Throws: `damaged` when it does not count, with the reason; `signedByRemovedDevice`.
  func requireCounting() throws(VaultError) {
    let file = VaultPath.head(body.member, body.device)
    let path = file.string
    switch verdict {
    case .counts, .late: return
    case .former where isOfFormerDevice: throw .signedByRemovedDevice(path: path)
    case .waiting(let id):
      throw .waiting(file, until: "what it builds on (\(id.shortHex)) has come")
    case .former:
      throw .damaged(
        path: path,
        reason:
          "its person may not write this member any more; an owner can let them again: kinvault share"
      )
    case .reader, .stranger:
      throw .damaged(
        path: path,
        reason: "its person may not write this member; an owner can let them: kinvault share")
    }
  }
}

extension SignedFiles {
  /// What the file of a head says of itself without a key, and the file, whose signature is still to be verified.
  ///
  /// - Throws: `missing`; `damaged`, also when it is another device's or another member's.
  func loadHeadWithoutVerifying(
    of device: DeviceID, in member: MemberID
  ) throws(VaultError) -> (body: HeadFile, file: LoadedSignedFile) {
    let file = try load(.head(member, device))
    let body = try file.decode(HeadFile.init(decoding:))
    guard body.member == member, body.device == device else {
      throw .damaged(path: file.path.string, reason: "it belongs elsewhere")
    }
    return (body, file)
  }
}
