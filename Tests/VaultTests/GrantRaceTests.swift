import BlobStore
import Testing
import VaultModel

@testable import Vault

/// Two grants at one path: of owners who grant one person at once, and of those who would use that.
struct GrantRaceTests {
  /// Anna and Ben are owners, Carla has nothing.
  private func twoOwners() throws -> Adults {
    let adults = try Adults()
    try adults.share(with: adults.ben, .owner)
    return adults
  }

  private func share(
    _ adults: Adults, by giver: Adults.Adult, as role: Role, until: UInt64? = nil
  ) throws {
    try giver.vault.share(
      #require(giver.emma), with: adults.carla.id, role: role, until: until)
  }

  private func grant(_ adult: Adults.Adult, of person: PersonID) throws -> GrantBody {
    let emma = try #require(adult.emma)
    try emma.reloadGrants()
    return try #require(emma.register.grants.valid[emma.epoch]?[person])
  }

  private func path(_ adults: Adults, _ person: PersonID) throws -> VaultPath {
    let emma = try #require(adults.anna.emma)
    return .grant(emma.id, emma.epoch, person)
  }

  @Test(arguments: [
    (Role.viewer, Role.editor), (.editor, .viewer), (.owner, .editor), (.viewer, .viewer),
  ])
  func everybodyComesToTheStrongerOne(annas: Role, bens: Role) throws {
    let adults = try twoOwners()
    try share(adults, by: adults.anna, as: annas)
    try share(adults, by: adults.ben, as: bens)
    try adults.meet()
    let path = BlobPath(try path(adults, adults.carla.id).string)
    #expect(Set(adults.everyone.map { $0.store.blobs[path] }).count == 1)
    for adult in adults.everyone {
      try adult.reopen()
      #expect(try grant(adult, of: adults.carla.id).role == max(annas, bens))
      #expect(adult.vault.problems == [])
      // The nearer to whoever began the epoch.
      if annas == bens {
        #expect(try grant(adult, of: adults.carla.id).giver == adults.anna.id)
      }
    }
    #expect(adults.carla.emma?.role == max(annas, bens))
  }

  @Test func ofOneRoleTheLaterEndCounts() throws {
    let adults = try twoOwners()
    let day: UInt64 = 86_400_000
    try share(adults, by: adults.anna, as: .viewer, until: 1_700_000_000_000 + 30 * day)
    try share(adults, by: adults.ben, as: .viewer, until: 1_700_000_000_000 + 60 * day)
    try adults.meet()
    for adult in adults.everyone {
      #expect(try grant(adult, of: adults.carla.id).giver == adults.ben.id)
    }
    // An owner can put it off further, or for good.
    try share(adults, by: adults.anna, as: .viewer)
    try adults.meet()
    #expect(try grant(adults.carla, of: adults.carla.id).until == 0)
    #expect(throws: VaultError.self) {
      try share(adults, by: adults.anna, as: .viewer, until: 1_800_000_000_000)
    }
  }

  @Test func whatACopierLeftBesideAGrantIsPutInItsPlaceIfItCounts() throws {
    for name in [".sync-conflict-20261121-101010-ABCDEFG", " (Ben's conflicted copy 2026-11-21)"] {
      let adults = try twoOwners()
      try share(adults, by: adults.anna, as: .viewer)
      try share(adults, by: adults.ben, as: .editor)
      let path = try path(adults, adults.carla.id)
      let (weak, strong) = try (
        adults.anna.store.read(BlobPath(path.string), limit: 1 << 20),
        adults.ben.store.read(BlobPath(path.string), limit: 1 << 20)
      )
      // On one machine the copier keeps the one, on another the other.
      for (adult, standing, beside) in [
        (adults.anna, weak, strong), (adults.ben, strong, weak), (adults.carla, weak, strong),
      ] {
        for (path, bytes) in adults.ben.store.blobs where adult.store.blobs[path] == nil {
          try adult.store.replace(path, bytes, durably: true)
        }
        try adult.store.replace(BlobPath(path.string), standing, durably: true)
        try adult.store.replace(BlobPath(path.string + name), beside, durably: true)
        try adult.reopen()
        #expect(try grant(adult, of: adults.carla.id).role == .editor)
        #expect(adult.store.blobs[BlobPath(path.string)] == strong)
      }
    }
  }

  @Test func whatIsPlantedBesideAGrantDoesNothing() throws {
    let adults = try twoOwners()
    try share(adults, by: adults.anna, as: .viewer)
    try adults.meet()
    let path = try path(adults, adults.carla.id)
    let own = try adults.anna.store.read(BlobPath(path.string), limit: 1 << 20)
    // Ben's grant, under Carla's name; and one that is cut.
    let bens = try adults.anna.store.read(
      BlobPath(self.path(adults, adults.ben.id).string), limit: 1 << 20)
    for planted in [bens, Array(own.dropLast(9)), []] {
      try adults.anna.store.replace(BlobPath(path.string + "~"), planted, durably: true)
      try adults.anna.reopen()
      #expect(adults.anna.store.blobs[BlobPath(path.string)] == own)
      #expect(try grant(adults.anna, of: adults.carla.id).role == .viewer)
    }
  }

  /// What somebody writes who was an owner and has been taken out, into the epoch in which they were one.
  private func forge(
    _ adults: Adults, by giver: Adults.Adult, for taker: Adults.Adult, role: Role, epoch: EpochID
  ) throws -> (path: VaultPath, bytes: [UInt8]) {
    let context = giver.vault.context
    let emma = try #require(giver.emma)
    let grant = GrantBody(
      member: emma.id, epoch: epoch, person: taker.id,
      personGeneration: try #require(context.people[taker.id]?.generation), giver: giver.id,
      giverGeneration: context.keys.generation, certificate: try context.ownCertificate().id,
      role: role, wrappedKey: [UInt8](repeating: 1, count: 40),
      time: 9_999_999_999_999)
    let path = VaultPath.grant(emma.id, epoch, taker.id)
    return (path, context.signedFiles.sign(grant.encoded(), .grant, path, with: context.device))
  }

  @Test func nobodyLowersARoleNorPutsThemselfBeforeAnOwner() throws {
    let adults = try twoOwners()
    try adults.share(with: adults.carla, .owner)
    let epoch = try #require(adults.anna.emma).epoch
    let tree = try SignedTree(vault: adults.anna.vault.id, store: adults.anna.store)
    for (taker, role) in [
      (adults.carla, Role.viewer), (adults.carla, .owner), (adults.anna, .owner),
      (adults.anna, .viewer),
    ] {
      let forged = try forge(adults, by: adults.ben, for: taker, role: role, epoch: epoch)
      #expect(try !tree.isOutranked(forged.path, by: forged.bytes))
      let together = try tree.adding([forged.path: forged.bytes])
      #expect(try together.verifyStored(forged.path) == tree.verifyStored(forged.path))
    }
    // Carla has it from Anna; Ben would have it from Carla then, and Carla from Ben.
    let ring = try forge(adults, by: adults.carla, for: adults.ben, role: .owner, epoch: epoch)
    #expect(try !tree.isOutranked(ring.path, by: ring.bytes))
  }
}
