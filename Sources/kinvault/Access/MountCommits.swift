import Glibc
import SystemPackage
import Vault
import VaultModel
import VaultMount

/// What was changed in a mount of the vault and is in no commit yet.
enum MountCommits {
  /// How long a mount may take, in seconds.
  private static let patience = 5

  /// Has the mounts of the vault commit, so that a command finds what was saved before it. What they could not is told, and
  /// where it cannot be read which mounts there are; the command goes on with what is there.
  ///
  /// - Parameter hint: What says more of it; nil for the command that does.
  static func request(in folder: FilePath, hint: String? = "kinvault status") throws {
    let id = try Vault.describe(folder: folder).vault
    let state = Environment.stateRoot.appending(id.hex)
    do throws(MountError) {
      for mount in try MountRegistry.commitAll(stateFolder: state, within: patience) {
        Terminal.note("kinvault: \(text(mount, hint))")
      }
    } catch {
      Terminal.note(
        "kinvault: What was saved last in a mount of the vault may be left out: "
          + FailureReport(error).message)
    }
  }

  private static func text(_ mount: UncommittedMount, _ hint: String?) -> String {
    let place = Terminal.visible(mount.mountpoint.string)
    guard let number = mount.errno else {
      return "The mount at \(place) did not answer within \(patience) seconds, so what was saved "
        + "there last may be left out. Wait until it is less busy and run this command again."
    }
    let reason = String(cString: strerror(number))
    return "The mount at \(place) cannot save what was changed there (\(reason)), so that is "
      + "left out." + (hint.map { " To see more: \($0)" } ?? "")
  }
}
