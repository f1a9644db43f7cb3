import Glibc
import SystemPackage
import TestSupport

/// Two machines of one person, and one of another person who may edit, as they stand before a schedule. Made once, and
/// copied for each schedule: so their vault, its keys and the 24 words are the same in all.
final class RealFamily: Sendable {
  enum Member: String, CaseIterable {
    case desk, laptop, phone

    /// Ben's; the others are Anna's.
    var isBens: Bool { self == .phone }
  }

  static let shared: Result<RealFamily, any Error> = {
    let result = Result { try RealFamily() }
    // What is shared until the process ends is freed by nobody.
    atexit {
      guard let family = try? RealFamily.shared.get() else { return }
      _ = try? CommandRunner.run("rm", ["-rf", family.folder.path.string])
    }
    return result
  }()

  private let folder: TemporaryFolder
  var words: FilePath { folder.appending("words") }
  var password: FilePath { folder.appending("password") }

  private init() throws {
    folder = try TemporaryFolder()
    try run("sh", ["-c", "umask 077; echo only for tests > '\(password)'"])
    let remote = folder.appending("remote")
    let desk = try machine(.desk)
    try desk.run([
      "init", "--vault", desk.vault.string, "--name", "Anna", "--device", "desk",
      "--password-file", password.string, "--words-out", words.string, "--yes",
    ])
    try desk.run(["member", "add", "Emma"])
    try desk.run(["remote", "add", "origin", remote.string])
    try desk.run(["sync"])
    let laptop = try machine(.laptop)
    try laptop.run([
      "clone", remote.string, laptop.vault.string, "--words-file", words.string,
      "--password-file", password.string, "--device", "laptop",
    ])
    let invitation = folder.appending("invitation")
    let invited = try desk.run(["invite", "--remote", "origin"]).output
    _ = try CommandRunner.run("tee", [invitation.string], input: Array(invited.utf8))
    let phone = try machine(.phone)
    try phone.run([
      "join", "--invitation-file", invitation.string, "--name", "Ben", "--device", "phone",
      "--password-file", password.string, "--words-out", folder.appending("bens words").string,
      "--yes",
    ])
    try desk.run(["sync"])
    try desk.run(["share", "Emma", "--with", "Ben", "--role", "editor"])
    let all = [desk, laptop, phone]
    for machine in all + all { try machine.run(["sync"]) }
    for machine in all { try machine.run(["remote", "remove", "origin"]) }
  }

  private func machine(_ member: Member) throws -> RealMachine {
    let disk = folder.appending(member.rawValue)
    try run("mkdir", [disk.string])
    return RealMachine(member.rawValue, disk: disk, in: folder.path, password: password)
  }

  /// Puts one of the machines on this disk.
  func copy(_ member: Member, to disk: FilePath) throws {
    try Self.copy(folder.appending(member.rawValue), to: disk)
  }

  /// All that is in a folder becomes all that is in another one.
  static func copy(_ source: FilePath, to target: FilePath) throws {
    try run("mkdir", ["-p", target.string])
    // 24: a mount that syncs has removed files there meanwhile, as beside any backup.
    try run("rsync", ["-ac", "--delete", "\(source)/", "\(target)/"], expecting: [0, 24])
  }
}
