import ArgumentParser
import SystemPackage
import Vault
import VaultModel

/// Completes members' names in the shell, while the vault is unlocked; never asks for a password.
enum MemberCompletion {
  static let kind = CompletionKind.custom { words, _, _ in names(commandLine: words) }

  private static func names(commandLine words: [String]) -> [String] {
    let named = words.firstIndex(of: "--vault").flatMap { index in
      words.indices.contains(index + 1) ? words[index + 1] : nil
    }
    // A shell that completes has no place for errors.
    guard let folder = try? VaultLocation.find(named: named),
      let id = try? Vault.describe(folder: folder).vault,
      let key = try? SessionKeys.load(vault: id),
      let vault = try? Vault.open(
        .here(in: folder), key: key, options: OpenOptions(readOnly: true))
    else { return [] }
    return vault.members.map { Terminal.visible($0.name.string) }
  }
}
