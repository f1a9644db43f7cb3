import BlobStore
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultSync

/// Several owners let somebody out at once, each without knowing of the other: a device, a person. Whoever knows of both
/// writes nothing that any of those who are out can open, alone or together. Docs/Format.md, "Which epoch is written under".
@Suite struct RemovalsAtOnceTests {
  private let usb = MemoryStore()
  private let elsewhere = MemoryStore()
  private let family: Family
  private let anna: SyncingAdult
  private let laptop: SyncingAdult
  private let phone: SyncingAdult
  private let ben: SyncingAdult
  private let carla: SyncingAdult
  private let dora: SyncingAdult
  private let egon: SyncingAdult

  /// Ben and Egon are owners as Anna is, who has a laptop and a phone; Carla is an editor, Dora a viewer.
  init() throws {
    family = try Family(count: 3)
    anna = SyncingAdult(family[0])
    try family[0].write("Visit", "first")
    try anna.sync(usb)
    (laptop, phone) = (SyncingAdult(family[1]), SyncingAdult(family[2]))
    var joined: [SyncingAdult] = []
    for (name, role) in [
      ("Ben", Role.owner), ("Carla", .editor), ("Dora", .viewer), ("Egon", .owner),
    ] {
      let adult = try SyncingAdult(joining: anna.vault.invite(), as: name)
      try adult.sync(usb)
      try anna.sync(usb)
      try anna.vault.share(#require(anna.emma), with: adult.vault.person, role: role)
      joined.append(adult)
    }
    (ben, carla, dora, egon) = (joined[0], joined[1], joined[2], joined[3])
    try anna.sync(usb)
    for adult in [laptop, phone, ben, carla, dora, egon, anna, ben, carla, dora, egon] {
      #expect(try adult.sync(usb).problems == [])
    }
  }

  // MARK: What happens

  enum Removal: CaseIterable {
    case ofLaptop, ofCarla
    case ofDora
  }

  /// Whoever does it, as the commands do; Anna removes the machine, Ben and Egon the people.
  private func carryOut(_ removal: Removal) throws {
    switch removal {
    case .ofLaptop:
      try anna.vault.beginGeneration(
        removing: [laptop.vault.device], words: Family.words.words)
      try anna.vault.beginEpoch(of: #require(anna.emma), without: [])
    case .ofCarla:
      try ben.vault.beginEpoch(of: #require(ben.emma), without: [carla.vault.person])
    case .ofDora:
      try egon.vault.beginEpoch(of: #require(egon.emma), without: [dora.vault.person])
    }
  }

  private func pull(_ adult: SyncingAdult, from remote: MemoryStore) throws {
    var options = SyncOptions()
    options.direction = .pull
    let name = remote === usb ? "usb" : "elsewhere"
    _ = try RemoteSync(
      vault: adult.vault, remote: remote, name: #require(RemoteName(name)), options: options
    ).run()
  }

  /// Whatever was ever to be seen.
  private final class Watch {
    private(set) var files: [BlobPath: [UInt8]] = [:]

    func look(at stores: [MemoryStore]) {
      for store in stores { files.merge(store.blobs) { first, _ in first } }
    }
  }

  private func look(_ watch: Watch) {
    watch.look(at: [usb, elsewhere] + [anna, phone, ben, carla, egon].map(\.store))
  }

  /// The titles that those who are out can open together.
  private func readable(by vaults: Vault..., in watch: Watch) throws -> Set<String> {
    try Set(StolenKeys(of: vaults, files: watch.files).readable(in: watch.files).keys)
  }

  // MARK: Tests

  @Test(arguments: [false, true])
  func whatIsWrittenBesideOneOpensForNobodyWhoIsOut(annaIsFirst: Bool) throws {
    // Which of the two epochs is ranked first hangs on ids.
    let watch = Watch()
    try carryOut(.ofLaptop)
    try anna.write("<of-anna>")
    try carryOut(.ofCarla)
    try ben.write("<of-ben>")
    look(watch)
    let order = annaIsFirst ? [anna, ben, anna, ben, egon] : [ben, anna, ben, anna, egon]
    for adult in order {
      // Between taking what others wrote and seeing to who has access, too.
      try pull(adult, from: usb)
      look(watch)
      try sync(adult, to: usb)
      look(watch)
    }
    try egon.write("<after>")
    for adult in [egon, anna, ben, phone] { try adult.sync(usb) }
    look(watch)
    for adult in [anna, ben, egon, phone] {
      #expect(try adult.titles == ["Visit", "<of-anna>", "<of-ben>", "<after>"])
    }
    #expect(try !readable(by: laptop.vault, in: watch).contains("<of-anna>"))
    #expect(try !readable(by: carla.vault, in: watch).contains("<of-ben>"))
    #expect(try !readable(by: laptop.vault, carla.vault, in: watch).contains("<after>"))
    // The judge sees what they may.
    #expect(try readable(by: carla.vault, in: watch).contains("<of-anna>"))
    #expect(try readable(by: ben.vault, in: watch).contains("<after>"))
  }

  /// An owner who has only taken what others wrote begins the keys that are due when they save.
  @Test(arguments: [true, false])
  func anOwnerSavesUnderKeysThatNobodyHasWhoIsOut(isBeginner: Bool) throws {
    let watch = Watch()
    try carryOut(.ofLaptop)
    try carryOut(.ofCarla)
    try anna.write("<of-anna>")
    try ben.write("<of-ben>")
    try sync(anna, to: usb)
    try sync(ben, to: elsewhere)
    look(watch)
    let owner = isBeginner ? ben : egon
    try pull(owner, from: usb)
    if !isBeginner { try pull(owner, from: elsewhere) }
    look(watch)
    try owner.write("<after>")
    look(watch)
    #expect(try owner.titles == ["Visit", "<of-anna>", "<of-ben>", "<after>"])
    try expectSecret("<after>", of: [laptop.vault, carla.vault], watch)
    try expectSecret("<of-anna>", of: [laptop.vault], watch)
    try expectSecret("<of-ben>", of: [carla.vault], watch)
  }

  /// Who can begin none writes nothing until an owner has, and then everything.
  @Test func anEditorWaitsForAnOwner() throws {
    let watch = Watch()
    try carryOut(.ofLaptop)
    try carryOut(.ofDora)
    try anna.write("<of-anna>")
    try sync(anna, to: usb)
    try sync(egon, to: elsewhere)
    try carla.write("<of-carla>")
    try sync(carla, to: usb)
    try sync(carla, to: elsewhere)
    look(watch)
    let error = #expect(throws: VaultError.self) { try carla.write("<too-early>") }
    if case .epochSpent? = error {} else { Issue.record("\(String(describing: error))") }
    // Reading, syncing and looking go on, and no lost device of hers stays in for it.
    #expect(try carla.vault.membersThatWaitForOwners().count == 1)
    #expect(try carla.vault.listAuthored(of: Leaving([carla.vault.device])).isEmpty)
    #expect(try carla.titles == ["Visit", "<of-anna>", "<of-carla>"])
    try sync(carla, to: usb)
    try sync(carla, to: elsewhere)
    look(watch)
    try sync(ben, to: usb)
    try sync(ben, to: elsewhere)
    try sync(carla, to: elsewhere)
    try carla.write("<after>")
    try sync(carla, to: elsewhere)
    look(watch)
    try sync(ben, to: elsewhere)
    for adult in [carla, ben] {
      #expect(try adult.titles == ["Visit", "<of-anna>", "<of-carla>", "<after>"])
    }
    try expectSecret("<after>", of: [laptop.vault, dora.vault], watch)
    try expectSecret("<of-anna>", of: [laptop.vault], watch)
    try expectSecret("<too-early>", of: [laptop.vault, dora.vault], watch)
  }

  /// Three at once; who knows of two of them and then of the third begins again.
  @Test func threeAtOnce() throws {
    let watch = Watch()
    for removal in Removal.allCases { try carryOut(removal) }
    try anna.write("<of-anna>")
    try ben.write("<of-ben>")
    try egon.write("<of-egon>")
    try sync(egon, to: elsewhere)
    for adult in [anna, ben] { try sync(adult, to: usb) }
    look(watch)
    try ben.write("<of-two>")
    for adult in [ben, anna] { try sync(adult, to: usb) }
    look(watch)
    try sync(anna, to: elsewhere)
    look(watch)
    try anna.write("<of-three>")
    for adult in [anna, egon, ben, anna] {
      try sync(adult, to: usb)
      try sync(adult, to: elsewhere)
      look(watch)
    }
    let all: Set = ["Visit", "<of-anna>", "<of-ben>", "<of-egon>", "<of-two>", "<of-three>"]
    for adult in [anna, ben, egon] { #expect(try adult.titles == all) }
    try expectSecret("<of-anna>", of: [laptop.vault], watch)
    try expectSecret("<of-ben>", of: [carla.vault], watch)
    try expectSecret("<of-egon>", of: [dora.vault], watch)
    try expectSecret("<of-two>", of: [laptop.vault, carla.vault], watch)
    try expectSecret("<of-three>", of: [laptop.vault, carla.vault, dora.vault], watch)
  }

  /// A store shows the new keys, and hides the closing that says whom they leave out. An owner who goes by that gives no key to
  /// those of before, which the laptop has too; nor when they take somebody else out.
  @Test(arguments: [false, true])
  func whoHasNotHeardOfARemovalGivesNothingToKeysOfBefore(takesSomebodyOut: Bool) throws {
    let watch = Watch()
    let before = Set(usb.blobs.keys)
    try carryOut(.ofLaptop)
    try anna.write("<of-anna>")
    try sync(anna, to: usb)
    let closings = "people/\(anna.vault.person.hex)/closings/"
    let hidden = usb.blobs.filter { !before.contains($0.key) && $0.key.string.hasPrefix(closings) }
    try #require(hidden.count == 1)
    for path in hidden.keys { try usb.remove(path) }
    try sync(ben, to: usb)
    look(watch)
    let emma = try #require(ben.emma)
    #expect(emma.register.links.trust.epochs.awaited == [anna.vault.person])
    if takesSomebodyOut { try ben.vault.beginEpoch(of: emma, without: [carla.vault.person]) }
    try ben.write("<of-ben>")
    try sync(ben, to: usb)
    look(watch)
    let refusal = #expect(throws: VaultError.self) {
      try ben.vault.share(emma, with: anna.vault.person, role: .owner)
    }
    if case .keysAwaited? = refusal {} else { Issue.record("\(String(describing: refusal))") }
    #expect(try ben.titles == ["Visit", "<of-anna>", "<of-ben>"])
    // It comes after all.
    for (path, bytes) in hidden { try usb.replace(path, bytes, durably: true) }
    for adult in [ben, anna, ben, egon, anna] {
      try sync(adult, to: usb)
      look(watch)
    }
    try anna.write("<after>")
    try sync(anna, to: usb)
    for adult in [ben, egon] {
      try sync(adult, to: usb)
      #expect(try adult.titles == ["Visit", "<of-anna>", "<of-ben>", "<after>"])
    }
    #expect(try #require(ben.emma).register.links.trust.epochs.awaited == [])
    look(watch)
    try expectSecret("<of-anna>", of: [laptop.vault], watch)
    try expectSecret("<of-ben>", of: [laptop.vault], watch)
    try expectSecret("<after>", of: [laptop.vault], watch)
  }

  /// One takes somebody out while another takes another one out, and then somebody else: what their devices had written is
  /// not lost by it.
  @Test func whoTakesOneMoreOutKeepsWhatTheyWrote() throws {
    let watch = Watch()
    try carryOut(.ofLaptop)
    try carryOut(.ofCarla)
    try egon.write("<of-egon>")
    try sync(egon, to: usb)
    for adult in [anna, ben] { try pull(adult, from: usb) }
    try sync(anna, to: elsewhere)
    try pull(ben, from: elsewhere)
    look(watch)
    try ben.vault.beginEpoch(of: #require(ben.emma), without: [egon.vault.person])
    look(watch)
    try ben.write("<after>")
    look(watch)
    try ben.sync(usb)
    try anna.sync(usb)
    for adult in [anna, ben] { #expect(try adult.titles == ["Visit", "<of-egon>", "<after>"]) }
    try expectSecret("<after>", of: [laptop.vault, carla.vault, egon.vault], watch)
  }

  private func sync(
    _ adult: SyncingAdult, to remote: MemoryStore, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let report = try adult.sync(remote, as: remote === usb ? "usb" : "elsewhere")
    // That the laptop is out is told, and a head that somebody has taken over, of an epoch whose wraps are gone by then.
    let problems = report.problems.filter { $0.severity == .damage }
    #expect(problems == [], sourceLocation: sourceLocation)
  }

  private func expectSecret(
    _ title: String, of vaults: [Vault], _ watch: Watch,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try StolenKeys(of: vaults, files: watch.files).readable(in: watch.files)
    #expect(found[title] == nil, "\(title)", sourceLocation: sourceLocation)
  }
}
