import MachineState
import Vault
import VaultErrors
import VaultModel

/// What was left on a remote, since it is more than is taken.
extension SyncProblem {
  static func endlessListing(_ folder: String) -> SyncProblem {
    SyncProblem(
      .endlessListing, .warning, path: folder,
      "The remote's list of it does not end. It was given up; everything else goes on. Look who can write to the remote: "
        + "somebody may have filled it. What is here, and other remotes, are not concerned.")
  }

  static let crowdedPeople = SyncProblem(
    .endlessListing, .warning, path: "people",
    "The remote's list of people does not end, or breaks off: mostly since somebody has put very many files or folders there. "
      + "Those whom this machine knows were looked for by name, and what is new of them is taken; of anybody else nothing is "
      + "seen. Tell whoever runs the remote: they look who can write there, and take out of its folder people what is no person of "
      + "the vault. Who is one, by the first digits of their folder: kinvault people list --all")

  static func tooMuchNew(_ count: Int, of all: Int) -> SyncProblem {
    SyncProblem(
      .tooMuchNew, .warning, path: "people",
      "\(all) files of people and members are new on the remote, more than 64 MiB, which no family has. What is known here "
        + "and the smaller ones were looked at, \(count) were left, and not taken. Look who can write to the remote, "
        + "and take out of its folders people and members what is not yours.")
  }

  static func manyBroken(_ count: Int) -> SyncProblem {
    SyncProblem(
      .tooMuchNew, .warning, path: "people",
      "Besides those that are named, \(count) files of people and members on the remote do not hold, and are not read again "
        + "while nothing else is new. Look who can write to the remote, and take out of its folders people and members what "
        + "is not yours.")
  }

  static func brokenLogs(_ count: Int) -> SyncProblem {
    SyncProblem(
      .tooMuchNew, .warning, path: "audit",
      "\(count) files of logs on the remote do not hold. The rest of the logs was left there; everything else goes on. Look who "
        + "can write to the remote, and take out of its folder audit what is not yours.")
  }

  static func noRoomToCarry(_ member: MemberID) -> SyncProblem {
    SyncProblem(
      .tooMuchNew, .warning, path: "members/\(member.hex)",
      "What is new of this member, which you cannot read and only pass on, was left on the remote: the disk here would have less "
        + "than a twentieth free, or less than 1 GiB. Nothing of yours is concerned. When there is room: kinvault sync"
    )
  }

  static func leftWhileLocked(_ member: MemberID) -> SyncProblem {
    SyncProblem(
      .waiting, .note, path: "members/\(member.hex)",
      "What is new of this member was left on the remote: this machine leaves attached files there, and while the vault is "
        + "locked nothing tells which objects those are. A sync with the keys takes the rest: kinvault unlock, then "
        + "kinvault sync")
  }

  static func tooMuchWhileLocked(_ member: MemberID) -> SyncProblem {
    SyncProblem(
      .tooMuchNew, .warning, path: "members/\(member.hex)/objects",
      "The remote has more of this member than this machine has room for while the vault is locked: as much as is fetched has "
        + "to stay free on the disk. What was not fetched before was left there. A sync with the keys takes what is needed, and "
        + "nothing else: kinvault unlock, then kinvault sync")
  }

  static let tooManyStatementsWhileLocked = SyncProblem(
    .tooMuchNew, .warning, path: "people",
    "The remote has more of people, and of who may do what, than this machine has room for while the vault is locked: as much "
      + "as is fetched has to stay free on the disk. What has no room was left there. A sync with the keys takes it: "
      + "kinvault unlock, then kinvault sync")

  /// - Parameter left: What was left on the remote, with what it weighs at least.
  static func strangers(
    _ left: [CargoOwner: CargoWeight], on remote: String
  ) -> SyncProblem {
    let weight = left.values.reduce(into: CargoWeight()) { $0 += $1 }
    let peopleCount = left.keys.count { if case .person = $0 { true } else { false } }
    let memberCount = left.count - peopleCount
    var who: [String] = []
    if peopleCount > 0 { who.append(peopleCount == 1 ? "a person" : "\(peopleCount) people") }
    if memberCount > 0 { who.append(memberCount == 1 ? "a member" : "\(memberCount) members") }
    let limit = CargoQuota.limit
    return SyncProblem(
      .strangers, .note, path: peopleCount > 0 ? "people" : "members",
      "The remote has files of \(who.joined(separator: " and ")) that nobody has let in whom you know: "
        + "\(weight.fileCount) files and \(megabytes(weight.byteCount)) at least. Of such files no more than "
        + "\(limit.fileCount) and \(megabytes(limit.byteCount)) are taken, and these were left there; what is yours is not "
        + "concerned. If you know whose they are, this takes them all: kinvault sync \(remote) --all"
    )
  }

  /// Of files that anybody can have put into the folders of people and members who are known.
  static func looseFiles(on remote: String) -> SyncProblem {
    let limit = CargoQuota.limit
    return SyncProblem(
      .strangers, .note, path: "people",
      "The remote has files in folders of people and members whom you know that nobody has written whom you know, as "
        + "far as this machine can tell yet: requests of machines, wraps, links. Of these and what else strangers have "
        + "there no more than \(limit.fileCount) files and \(megabytes(limit.byteCount)) are taken, and the rest was left "
        + "there; what is yours is not concerned. If you know whose they are, this takes them all: "
        + "kinvault sync \(remote) --all")
  }

  static func strangers(leftByClone left: [CargoOwner: CargoWeight]) -> SyncProblem {
    let weight = left.values.reduce(into: CargoWeight()) { $0 += $1 }
    return SyncProblem(
      .strangers, .note, path: "people",
      "The remote has more people than any family: of those of whom nothing is known yet \(left.count) were left there, "
        + "\(weight.fileCount) files of \(megabytes(weight.byteCount)). If your words are said to be nobody's, you are "
        + "one of them; this takes them all: kinvault clone --all")
  }

  private static func megabytes(_ count: UInt64) -> String {
    count < 1 << 20 ? "\(count >> 10) KiB" : "\(count >> 20) MiB"
  }
}
