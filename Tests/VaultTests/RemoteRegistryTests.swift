import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

struct RemoteRegistryTests {
  private let store = MemoryStore()
  private var registry: RemoteRegistry { RemoteRegistry(state: StateFolder(store: store)) }

  private func configuration(_ name: String) throws -> RemoteConfiguration {
    RemoteConfiguration(
      name: try #require(RemoteName(name)), address: "s3://bucket/a folder",
      options: ["region": "eu-1", "note": "two words"], created: 12)
  }

  @Test func givesBackWhatWasAddedAndForgetsWhatWasRemoved() throws {
    let (nas, usb) = (try configuration("nas"), try configuration("usb"))
    try registry.add(usb)
    try registry.add(nas)
    #expect(try registry.all() == [nas, usb])
    #expect(throws: VaultError.self) { try registry.add(nas) }
    try store.replace("remotes/nas.state", [1], durably: false)
    try registry.remove(nas.name)
    #expect(try registry.all() == [usb])
    #expect(try store.size(of: "remotes/nas.state") == nil)
    #expect(throws: VaultError.self) { try registry.load(nas.name) }
  }

  /// A mark that joins with the space before it, and a carriage return that joins with the line feed behind it.
  @Test(arguments: ["\u{301}no", "", " two  spaces ", "no\r"])
  func keepsAddressesAndOptionsAsTheyAre(text: String) throws {
    var nas = try configuration("nas")
    nas.address = text
    nas.options = ["first": text, "second": "x"]
    try registry.add(nas)
    #expect(try registry.load(nas.name) == nas)
  }

  @Test func credentialsOpenOnlyForTheirRemoteAndDevice() throws {
    let credentials = RemoteLogin(user: "key id", secret: "öß\u{0}x")
    let key = DeviceUnlockKey.random()
    let vault = VaultID.random()
    let (nas, usb) = (try #require(RemoteName("nas")), try #require(RemoteName("usb")))
    let sealed = credentials.sealed(for: nas, vault: vault, with: key)
    #expect(
      try RemoteLogin(opening: sealed, of: nas, vault: vault, with: key) == credentials)
    #expect(throws: VaultError.self) {
      try RemoteLogin(opening: sealed, of: usb, vault: vault, with: key)
    }
    let other = DeviceUnlockKey.random()
    #expect(throws: VaultError.self) {
      try RemoteLogin(opening: sealed, of: nas, vault: vault, with: other)
    }
  }

  @Test func everyDamagedByteIsNoticed() throws {
    let nas = try configuration("nas")
    try registry.add(nas)
    let path: BlobPath = "remotes/nas.remote"
    let bytes = try store.read(path, limit: 4096)
    for position in bytes.indices {
      var damaged = bytes
      damaged[position] ^= 1
      try store.replace(path, damaged, durably: false)
      #expect(throws: VaultError.self) { try registry.load(nas.name) }
    }
  }

  @Test func aDamagedOneKeepsNobodyFromTheOthersAndCanBeForgotten() throws {
    let (nas, usb) = (try configuration("nas"), try configuration("usb"))
    try registry.add(nas)
    try registry.add(usb)
    try store.replace("remotes/nas.remote", [], durably: false)
    #expect(try registry.names() == [nas.name, usb.name])
    #expect(try registry.readable().whole == [usb])
    #expect(try registry.readable().damaged == [nas.name])
    #expect(throws: VaultError.self) { try registry.all() }
    try registry.remove(nas.name)
    #expect(try registry.all() == [usb])
    #expect(throws: VaultError.self) { try registry.remove(nas.name) }
  }

  @Test(arguments: ["", "a b", "../x", "Ä", "A", "x.state", String(repeating: "x", count: 65)])
  func refusesNamesThatNoFileShouldHave(text: String) {
    #expect(RemoteName(text) == nil)
  }
}
