import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// A device that counts signs, with its own key, what another one is to have said of itself.
@Suite struct MisnamedRegisterTests {
  private let usb = MemoryStore()
  private let family: Family
  /// Whom the made-up register names, and who signed it.
  private var named: Vault { family[0].vault }
  private var signer: Vault { family[1].vault }

  init() throws {
    family = try Family(count: 2)
    try family[0].write("Visit", "first")
    try family.meet(at: usb)
  }

  private func path(of vault: Vault) -> VaultPath { .device(vault.person, vault.device) }

  private func tree() throws -> SignedTree {
    try SignedTree.load(vault: named.id, store: family[0].store, state: named.context.state)
  }

  /// Puts it on the stick, in the place of one of the two.
  private func plant(at place: VaultPath, counter: UInt64) throws -> [UInt8] {
    let bytes = signer.madeUpRegister(of: named.device, counter: counter, at: place)
    try usb.replace(BlobPath(place.string), bytes, durably: true)
    return bytes
  }

  /// It is refused by name in either place, replaces nothing, and its counter counts for nobody.
  @Test(arguments: [false, true], [99_999, 1 << 40])
  func countsInNoPlace(isInPlaceOfTheSigner: Bool, counter: UInt64) throws {
    let place = path(of: isInPlaceOfTheSigner ? signer : named)
    let blob = BlobPath(place.string)
    let before = try #require(family[0].store.blobs[blob])
    let planted = try plant(at: place, counter: counter)
    #expect(throws: VaultError.self) { try tree().verify(place, planted) }
    // Whoever meets it first names it, and puts what holds in its place.
    let report = try family[0].sync(usb) { $0.looksEverywhere = true }
    #expect(report.problems.map(\.path) == [place.string])
    #expect(report.problems.allSatisfy { $0.kind == .damagedThere })
    try family[1].sync(usb) { $0.looksEverywhere = true }
    for store in [family[0].store, family[1].store, usb] { #expect(store.blobs[blob] == before) }
    #expect(try named.personalProfile().name == "Adult A")
    let marks = try named.context.state.loadWatermarks()
    #expect(marks[path(of: named)].map { max($0.counter, $0.floor) < 99 } ?? true)
    // Whose place it is goes on from their own.
    for device in [family[0], family[1]] {
      try device.vault.rewriteRegister()
      try device.sync(usb)
    }
    let facts = try #require(try tree().verifyStored(place))
    #expect(facts.counter < 99_999)
  }
}
