import Glibc
import SystemPackage
import TestSupport
import Testing
import VaultErrors

@testable import Vault

/// Folders that are no vault, and those of which nobody can tell whether they are one.
@Suite struct VaultFolderTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func failures(at path: FilePath) -> [VaultError] {
    var failures: [VaultError] = []
    do throws(VaultError) { _ = try Vault.describe(folder: path) } catch { failures.append(error) }
    do throws(VaultError) {
      _ = try VaultCopy.find(in: path, stateRoot: folder.appending("state"))
    } catch { failures.append(error) }
    return failures
  }

  @Test func whatIsMissingOrEmptyIsNoVault() {
    for path in [folder.path, folder.appending("missing")] {
      let failures = failures(at: path)
      #expect(failures.count == 2)
      for failure in failures {
        guard case .notAVault(path.string) = failure else {
          Issue.record("\(failure)")
          continue
        }
      }
    }
  }

  @Test func whatTheSystemCannotOpenIsNotCalledNoVault() {
    // No name may be so long.
    let failures = failures(at: folder.appending(String(repeating: "a", count: 300)))
    #expect(failures.count == 2)
    for failure in failures {
      guard case .io(_, ENAMETOOLONG) = failure else {
        Issue.record("\(failure)")
        continue
      }
    }
  }

  @Test(.enabled(if: geteuid() != 0, "NOT TESTED: root may look into every folder"))
  func whatMayNotBeLookedIntoIsNotCalledNoVault() throws {
    let closed = folder.appending("closed").string
    try #require(mkdir(closed, 0o000) == 0)
    defer { rmdir(closed) }
    let failures = failures(at: FilePath(closed))
    #expect(failures.count == 2)
    for failure in failures {
      guard case .permission(closed) = failure else {
        Issue.record("\(failure)")
        continue
      }
    }
  }
}
