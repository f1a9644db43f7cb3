import Glibc
import Places
import SystemPackage
import Testing

/// Mounts of users who are not root. `users.sh` says what is looked at.
@Suite struct UserTests {
  private static let script = FilePath(#filePath).removingLastComponent().appending("users.sh")

  @Test func anOrdinaryUserMountsForThemselvesAndForOthers() throws {
    guard geteuid() == 0 else {
      print("MOUNTS OF OTHER USERS ARE NOT TESTED: only root can become one.")
      return
    }
    let outcome = try Command([
      "unshare", "--mount", "bash", Self.script.string, MountedVault.binary.string,
    ]).run()
    #expect(outcome.isSuccess, "\(outcome)")
  }
}
