import Glibc
import SystemPackage

/// What Argon2id gave, for programs under test that ask for it again: hundreds of commands unlock copies of one vault with one
/// password, and each of them would compute for a tenth of a second what the first has computed.
///
/// libsodium computes it the first time, and whatever differs in any input is computed. Programs are what they are otherwise:
/// nothing in them makes a password cheap.
package enum RememberedPasswords {
  /// For the environment of a program: nothing where the library cannot be built, and everything takes longer.
  package static let environment: [String: String] = {
    // What opens a vault in this process and what opens it in another have to agree on what stands in for Argon2id.
    if let given = getenv("LD_PRELOAD").map({ String(cString: $0) }), given.hasSuffix(libraryName) {
      return ["LD_PRELOAD": given]
    }
    do {
      return try ["LD_PRELOAD": buildLibrary(in: folder.get().path)]
    } catch {
      complain("PASSWORDS ARE NOT REMEMBERED: \(error)")
      return [:]
    }
  }()

  private static let libraryName = "remembered-passwords.so"

  private static let folder: Result<TemporaryFolder, any Error> = Result {
    // What is kept until the process ends is freed by nobody.
    atexit { RememberedPasswords.removeFolder() }
    return try TemporaryFolder()
  }

  private static func removeFolder() {
    guard case .success(let made) = folder else { return }
    _ = try? CommandRunner.run("rm", ["-rf", made.path.string])
  }

  private struct NotBuilt: Error {
    let why: String
  }

  private static func buildLibrary(in folder: FilePath) throws -> String {
    let library = folder.appending(libraryName).string
    let source = FilePath(#filePath).removingLastComponent()
      .appending("remembered-passwords.c").string
    let built = try CommandRunner.run(
      "clang",
      [
        "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-DPLACE=\"\(folder)\"", "-o", library,
        source,
      ])
    guard built.status == 0 else { throw NotBuilt(why: built.errors) }
    return library
  }
}
