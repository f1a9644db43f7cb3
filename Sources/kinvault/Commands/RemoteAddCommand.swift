import ArgumentParser
import BlobStore
import Glibc
import MachineState
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto
import VaultModel

struct RemoteAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a place to sync with.",
    discussion: """
      Addresses:
        /media/usb/Family                        a folder: a disk, a network drive, a synced folder
        s3://BUCKET/PREFIX                       S3; ?endpoint=https://HOST&region=R&style=path&ca=FILE
        https://cloud.example.org/dav/Family     WebDAV (Nextcloud and the like); ?ca=FILE
        rclone:REMOTE:PATH                       whatever your own rclone is set up for

      S3 keys come from the environment or ~/.aws; or give --user KEY-ID and type the secret, which is then \
      kept sealed on this machine. WebDAV takes --user NAME in the same way. A server whose certificate comes from an \
      authority of your own needs ?ca=FILE (PEM), or the variable SSL_CERT_FILE. S3 and WebDAV go through the proxy that \
      https_proxy, http_proxy or all_proxy names (http://USER:PASSWORD@HOST:PORT or socks5://HOST:PORT), but for \
      hosts in no_proxy.

      Examples:
        kinvault remote add usb /media/usb/Family
        kinvault remote add cloud https://cloud.example.org/remote.php/dav/files/anna/Family --user anna
        kinvault remote add bucket "s3://family-vault?region=eu-central-1"
      """)

  @Argument(help: "What you call it: a-z, 0-9, - and _.") var name: String
  @Argument(help: "Where it is.", completion: .directory) var address: String

  @OptionGroup var login: LoginOptions

  @Option(
    help: ArgumentHelp(
      "Use at most this many bytes a second in each direction: 500K, 2M.", valueName: "rate"))
  var limitRate: ByteCountArgument?

  @Option(
    help: ArgumentHelp(
      "Have other machines told within seconds, by this ntfy server (see kinvault remote doorbell --help).",
      valueName: "url"))
  var doorbell: DoorbellArgument?

  @Flag(help: "Do not try whether it can be reached.") var noTest = false
  @OptionGroup var access: AccessOptions

  func run() throws {
    guard let name = RemoteName(name) else {
      throw CommandError.usage("A remote's name is 1 to 64 of a-z, 0-9, - and _.")
    }
    let folder = try access.folderOptions.folder()
    let vault = try Vault.describe(folder: folder).vault
    let registry = try RemoteRegistry.here(vault: vault)
    // Before anything is made, or asked for.
    try registry.requireNone(of: name)
    let place = login.place
    let (address, password) = try place.parse(address)
    try prepare(address, vaultFolder: folder)
    var configuration = RemoteConfiguration(
      name: name, address: address.text, created: FileTimestamp.now.milliseconds)
    if let limitRate {
      configuration.options[KnownRemote.rateOption] = String(limitRate.byteCount)
    }
    if let doorbell { configuration.options[KnownRemote.doorbellOption] = doorbell.address.text }
    let proof = try place.login(for: address, password: password)
    if let proof {
      let unlocked = try access.unlockKey(folder: folder)
      configuration.credentials = proof.sealed(for: name, vault: vault, with: unlocked.key)
    }
    let remote = try KnownRemote(configuration, login: proof)
    if !noTest { Terminal.note(try RemoteProbe(remote, vault: vault).run().text) }
    try registry.add(configuration)
    Terminal.writeLine("Added the remote \(name). To sync: kinvault sync")
  }

  /// Makes the folder if only it is missing.
  private func prepare(_ address: RemoteAddress, vaultFolder: FilePath) throws {
    guard case .directory(let place) = address else { return }
    try RemotePlace.requireApart(place, from: VaultLocation.absolute(vaultFolder.string))
    if mkdir(place.string, 0o700) == 0 { return }
    let number = errno
    switch number {
    case EEXIST: return
    case EACCES: throw CommandError.notPermitted(DeniedFolder.message(for: place.string))
    default: throw CommandError.system(call: "cannot be made", path: place.string, errno: number)
    }
  }
}
