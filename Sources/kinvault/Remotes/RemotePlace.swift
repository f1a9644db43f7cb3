import Glibc
import MachineState
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto

/// What a person says about where a remote is and how to get in.
struct RemotePlace {
  let user: String?
  let secretFile: String?

  /// The address, with whole paths of the folder or of the file of certificates, and a password that stood in it.
  func parse(_ text: String) throws -> (address: RemoteAddress, password: String?) {
    let parsed = try RemoteAddress.parse(text)
    let address = parsed.address.withWholePaths { VaultLocation.absolute($0.string) }
    return (address, parsed.password)
  }

  /// Refuses a folder as a remote that is the vault's own, inside it or around it.
  static func requireApart(_ place: FilePath, from vault: FilePath) throws(CommandError) {
    guard place.starts(with: vault) || vault.starts(with: place) else { return }
    throw .refused(
      "\(place) is the vault's own folder, or inside it, or around it. A remote is a copy elsewhere."
    )
  }

  /// What proves to the remote that it is this person; nil when the environment has that, or nothing is needed.
  func login(for address: RemoteAddress, password: String?) throws -> RemoteLogin? {
    var user = user
    if case .webDAV(let place) = address { user = user ?? place.user }
    guard let user else {
      if secretFile != nil { throw CommandError.usage("--secret-file goes with --user.") }
      return nil
    }
    if let password { return RemoteLogin(user: user, secret: password) }
    if let secretFile {
      return RemoteLogin(user: user, secret: try SecretInput.read(path: secretFile).text)
    }
    guard let prompt = TerminalPrompt() else {
      throw CommandError.locked("There is no terminal to ask for the secret. Use --secret-file.")
    }
    let secret = try prompt.secret("Password or secret key of \(Terminal.visible(user)): ")
    return RemoteLogin(user: user, secret: secret.text)
  }
}
