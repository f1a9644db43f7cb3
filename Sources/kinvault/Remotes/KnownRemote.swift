import BlobStore
import Glibc
import MachineState
import RemoteStores
import SystemPackage
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultSync

/// A remote that this machine knows, with what it needs to be opened.
struct KnownRemote: Sendable {
  let configuration: RemoteConfiguration
  let address: RemoteAddress
  /// Nil where the environment or the program behind the remote has what it takes.
  let login: RemoteLogin?

  var name: RemoteName { configuration.name }

  /// The option that limits the speed, in bytes a second.
  static let rateOption = "rate"
  /// The option that has the address of the doorbell.
  static let doorbellOption = "doorbell"
  /// The option that is there from the beginning of a clone until a sync has come to its end.
  static let cloneOption = "clone"

  /// - Throws: `damaged` when what is kept of it does not open with this key.
  init(
    _ configuration: RemoteConfiguration, vault: VaultID, key: borrowing DeviceUnlockKey
  ) throws {
    let login = try configuration.credentials.map { sealed in
      try RemoteLogin(opening: sealed, of: configuration.name, vault: vault, with: key)
    }
    try self.init(configuration, login: login)
  }

  /// Without the vault's key: a remote whose login is sealed cannot be opened so.
  init(locked configuration: RemoteConfiguration) throws {
    guard configuration.credentials == nil else {
      throw CommandError.locked(
        "The login of the remote \(configuration.name) is locked with the vault. Unlock first: kinvault unlock"
      )
    }
    try self.init(configuration, login: nil)
  }

  init(_ configuration: RemoteConfiguration, login: RemoteLogin?) throws {
    self.configuration = configuration
    self.login = login
    address = try RemoteAddress.parse(configuration.address).address
  }

  /// What to do where a remote does not take what this machine has for it.
  static func wayToNewLogin(for name: RemoteName) -> String {
    "If its user name, password or keys are others now: kinvault remote remove \(name), and then "
      + "kinvault remote add \(name) ADDRESS --user USER"
  }

  /// What to do where the file is damaged in which this machine keeps a remote.
  static func isDamaged(_ name: RemoteName) -> String {
    "What this machine keeps of the remote \(name) is damaged, so nothing is synced with it. What is there is untouched. To "
      + "go on: kinvault remote remove \(name), and then kinvault remote add \(name) ADDRESS"
  }

  /// The store, with retries and limits around it. Asks nothing of a server yet.
  func open() throws(BlobStoreError) -> any BlobStore {
    var options = RemoteOptions(environment: Environment.all)
    options.bytesPerSecond = configuration.options[Self.rateOption].flatMap { Int($0) }
    do {
      return try RemoteOpening.open(
        address,
        credentials: login.map { RemoteCredentials(user: $0.user, secret: $0.secret) },
        options: options)
    } catch {
      // A disk that is not plugged in.
      guard case .notFound(let path) = error, case .directory = address else { throw error }
      throw .unreachable(path: path, reason: "the folder is not there")
    }
  }

  /// Where files of the vault may be had.
  var place: RemoteFiles.Place {
    RemoteFiles.Place(name: name) { () throws(BlobStoreError) in try open() }
  }

  /// What is rung after something was put there, and listened to; nil where none is set.
  func doorbell() throws(BlobStoreError) -> Doorbell? {
    guard let text = configuration.options[Self.doorbellOption],
      let address = Doorbell.Address(text)
    else { return nil }
    return try Doorbell.open(address, environment: Environment.all)
  }

  /// Whether whoever waits elsewhere is told at once.
  var hasDoorbell: Bool { configuration.options[Self.doorbellOption] != nil }

  /// How many requests may be under way at once.
  var threadCount: Int {
    if case .directory = address { 4 } else { 16 }
  }
}

extension KnownRemote {
  /// The remotes with these names; all when none are named.
  ///
  /// - Throws: `notFound` for a name that this machine does not know, or when it knows none at all.
  static func find(
    _ names: [String], vault: VaultID, key: borrowing DeviceUnlockKey
  ) throws -> [KnownRemote] {
    var found: [KnownRemote] = []
    for configuration in try configurations(names, vault: vault) {
      found.append(try KnownRemote(configuration, vault: vault, key: key))
    }
    return found
  }

  static func configurations(_ names: [String], vault: VaultID) throws -> [RemoteConfiguration] {
    let registry = try RemoteRegistry.here(vault: vault)
    let wanted = try names.isEmpty ? registry.names() : names.map { try known($0, registry) }
    guard !wanted.isEmpty else { throw none }
    return try wanted.map { name in
      do throws(VaultError) { return try registry.load(name) } catch {
        guard error.isDamage else { throw error }
        throw CommandError.damaged(isDamaged(name))
      }
    }
  }

  static var none: CommandError {
    .notFound("This vault has no remotes yet. Add one: kinvault remote add NAME ADDRESS")
  }

  /// All remotes whose files are whole: one that is damaged keeps nobody from the others.
  static func whole(of vault: VaultID, key: borrowing DeviceUnlockKey) throws -> [KnownRemote] {
    var found: [KnownRemote] = []
    for configuration in try RemoteRegistry.here(vault: vault).readable().whole {
      found.append(try KnownRemote(configuration, vault: vault, key: key))
    }
    return found
  }

  /// The remote that a person named, which may be damaged.
  ///
  /// - Throws: `notFound`.
  static func known(_ text: String, _ registry: RemoteRegistry) throws -> RemoteName {
    guard let name = RemoteName(text), try registry.names().contains(name) else {
      throw unknown(text)
    }
    return name
  }

  private static func unknown(_ text: String) -> CommandError {
    .notFound(
      "There is no remote \u{201C}\(Terminal.visible(text))\u{201D}. To see all: kinvault remote list"
    )
  }
}

extension RemoteRegistry {
  /// This machine's remotes of a vault.
  static func here(vault: VaultID) throws -> RemoteRegistry {
    RemoteRegistry(state: try StateFolder.open(root: Environment.stateRoot, vault: vault))
  }
}

extension RemoteConfiguration {
  /// Whether the vault was begun here from this remote, and has not come whole yet.
  var isUnfinishedClone: Bool { options[KnownRemote.cloneOption] != nil }
}

extension RemoteRegistry {
  /// Whether the vault was begun here from one of the remotes, and has not come whole yet.
  func hasUnfinishedClone() throws(VaultError) -> Bool {
    try readable().whole.contains(where: \.isUnfinishedClone)
  }

  /// The vault has come whole from this one.
  func endClone(of name: RemoteName) throws(VaultError) {
    guard try load(name).isUnfinishedClone else { return }
    try update(name) { $0.options[KnownRemote.cloneOption] = nil }
  }
}
