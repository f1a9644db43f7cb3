import SystemPackage
import TestSupport
import Testing

/// Whoever has a copy of an owner's machine gives the owner's place up a second time, and another machine meets that first.
@Suite struct MemberSettleTests {
  private let program: Program
  private let anna: Machine
  private let ben: Machine
  private let carla: Machine
  private let dave: Machine
  /// A copy of Anna's machine, from before she handed over.
  private let thief: Machine

  init() throws {
    program = try Program.withVault()
    anna = Machine(first: program)
    (ben, carla) = (Machine("ben", beside: program), Machine("carla", beside: program))
    (dave, thief) = (Machine("dave", beside: program), Machine("thief", beside: program))
    try anna.run("remote", "add", "usb", folder("usb"), expecting: 0)
    try anna.write("one", titled: "Visit")
    try anna.run("sync", expecting: 0)
    for (machine, name) in [(ben, "Ben"), (carla, "Carla"), (dave, "Dave")] {
      let invitation = folder("invitation of \(name)")
      try program.write(
        try anna.run("invite", "--remote", "usb", expecting: 0).output, to: invitation)
      try machine.run(
        "join", "--invitation-file", invitation, "--name", name, "--remote-name", "usb",
        "--words-out", folder("words of \(name)"), "--yes", expecting: 0)
      try anna.run("sync", expecting: 0)
      guard name != "Dave" else { continue }
      try anna.run("share", "Emma", "--with", name, "--role", "editor", expecting: 0)
    }
    for machine in [anna, ben, carla, anna] { try machine.run("sync", expecting: 0) }
    for (from, to) in [
      (anna.vault, thief.vault), (folder("state"), folder("thief state")),
      (folder("usb"), folder("thiefs")),
    ] {
      let copied = try CommandRunner.run("cp", ["-r", from, to])
      try #require(copied.status == 0, "\(copied.errors)")
    }
  }

  private func folder(_ name: String) -> String { program.folder.appending(name).string }

  private func handOver(
    from giver: Machine, to taker: Machine, called name: String, by remote: String
  )
    throws
  {
    try giver.run("hand-over", "Emma", "--to", name, "--yes", expecting: 0)
    for machine in [giver, taker] { try machine.run("sync", remote, expecting: 0) }
    try taker.run("accept", "Emma", "--yes", expecting: 0)
    for machine in [taker, giver, taker] { try machine.run("sync", remote, expecting: 0) }
  }

  /// Another machine of Anna's, with her words. The device of the one that was copied is still hers there.
  private func annasLaptop() throws -> Machine {
    let laptop = Machine("laptop", beside: program)
    try laptop.clone(folder("usb"))
    return laptop
  }

  /// Whatever comes of removing the devices of the vault one by one, of which the laptop's own is not removed.
  private func revokeDevices(on laptop: Machine, _ options: String...) throws -> [CommandResult] {
    let devices = try laptop.run("device", "list", "--json", expecting: 0).output
    let ids = devices.split(separator: "\"").filter {
      $0.count == 64 && $0.allSatisfy(\.isHexDigit)
    }
    return try Set(ids).map { id in
      let words = ["--words-file", program.wordsFile, "--yes"]
      return try laptop.run(["device", "revoke", String(id)] + words + options)
    }
  }

  /// That asks first which time is true.
  private func removeAnnasDevice(settlingOn end: String) throws {
    let laptop = try annasLaptop()
    let refused = try revokeDevices(on: laptop)
    #expect(!refused.contains { $0.status == 0 })
    #expect(
      refused.contains { $0.status == 10 && $0.errors.contains("kinvault member settle") },
      "\(refused.map(\.errors))")
    try laptop.run("member", "settle", "Emma", "--on", end, "--yes", expecting: 0)
    #expect(try revokeDevices(on: laptop).contains { $0.status == 0 })
    try laptop.run("sync")
  }

  /// Anna hands her place over to Ben, and from the copy of her machine it goes to Dave, in another store.
  private func giveAnnasPlaceUpTwice() throws {
    try handOver(from: anna, to: ben, called: "Ben", by: "usb")
    for machine in [thief, carla, dave] {
      try machine.run("remote", "add", "other", folder("thiefs"), expecting: 0)
    }
    try thief.run("share", "Emma", "--with", "Dave", "--role", "editor", expecting: 0)
    for machine in [thief, dave] { try machine.run("sync", "other", expecting: 0) }
    try handOver(from: thief, to: dave, called: "Dave", by: "other")
  }

  /// Anna's device is removed before anybody has said which time is true: that stays open on every machine.
  @Test func aDeviceIsRemovedAndThatStaysOpen() throws {
    try giveAnnasPlaceUpTwice()
    let laptop = try annasLaptop()
    try laptop.run("remote", "add", "other", folder("thiefs"), expecting: 0)
    try laptop.run("sync")
    let refused = try revokeDevices(on: laptop)
    #expect(refused.contains { $0.status == 10 && $0.errors.contains("--unsettled") })
    let removed = try revokeDevices(on: laptop, "--unsettled")
    #expect(removed.contains { $0.status == 0 }, "\(removed.map(\.errors))")
    try laptop.run("sync")
    try carla.run("sync", "usb")
    for machine in [laptop, carla] {
      let listed = try machine.run("member", "settle", expecting: 0).output
      #expect(listed.contains("has given") || listed.contains("have given"), "\(listed)")
      #expect(listed.contains("--on"), "\(listed)")
    }
    // Ben, who met what is true first, has the place as before.
    try ben.run("sync", "usb")
    let access = try ben.run("access", "list", expecting: 0).output
    #expect(access.contains(/Emma +Ben +owner, 1st/), "\(access)")
  }

  @Test func aPersonSaysWhichTimeIsTrue() throws {
    try giveAnnasPlaceUpTwice()
    #expect(
      try anna.run("member", "settle", expecting: 0).output
        == "Nobody has given a place up twice.\n")

    // Carla goes by the thief's store, and then meets what is true.
    try carla.run("sync", "other", expecting: 0)
    try carla.write("mine", titled: "Vaccine")
    let told = try carla.run("sync", "usb")
    #expect(!told.output.contains("Ben is"))
    #expect(try carla.run("check").output.contains("kinvault member settle"))
    let listed = try carla.run("member", "settle", expecting: 0).output
    #expect(
      listed.hasPrefix("Adult A has given up their place among the owners of Emma more than once"))
    let rows = try carla.run("member", "settle", "--json", expecting: 0).output
    let ids = rows.split(separator: "\"").filter { $0.count == 64 && $0.allSatisfy(\.isHexDigit) }
    // Of each row the end, then the member.
    try #require(ids.count == 4)
    let (counting, other) = (String(ids[0].prefix(12)), String(ids[2].prefix(12)))
    #expect(listed.contains("\(counting)  handed") && listed.contains("--on \(other)"))

    try carla.run("member", "settle", "--on", other, expecting: 2)
    try carla.run("member", "settle", "Ema", expecting: 6)
    try carla.run("member", "settle", "Emma", "--on", "0123", "--yes", expecting: 6)
    let asked = try carla.run("member", "settle", "Emma", "--on", other, expecting: 10)
    #expect(asked.errors.contains("Is that what they say themselves?"))
    #expect(try carla.run("member", "settle", expecting: 0).output == listed)
    let settled = try carla.run("member", "settle", "Emma", "--on", other, "--yes", expecting: 0)
    #expect(settled.output.contains("To get it: kinvault sync\n"))
    let again = try carla.run("member", "settle", "Emma", "--on", other, "--yes", expecting: 0)
    #expect(again.output == "This machine goes by that already.\n")

    // Her note is there, and comes to Ben; what she writes now the thief's Dave cannot read.
    let synced = try carla.run("sync", "usb")
    #expect(!synced.output.contains("What is here is not whole"), "\(synced.output)")
    let checked = try carla.run("check", expecting: 0)
    #expect(checked.output.contains("was said not to be true here"), "\(checked.output)")
    // What she wrote goes on from what the copy of Anna's machine had written: it is joined once Anna has removed that device.
    try ben.run("sync", "usb")
    #expect(!(try ben.run("record", "list", expecting: 0).output.contains("Vaccine")))
    try removeAnnasDevice(settlingOn: other)
    for machine in [carla, ben] { try machine.run("sync", "usb") }
    let shown = try ben.run("record", "list", expecting: 0).output
    #expect(shown.contains("Vaccine") && shown.contains("Visit"), "\(shown)")
    try carla.run("sync", "usb")
    #expect(try carla.run("record", "list", expecting: 0).output.contains("Visit"))
    #expect(
      try carla.run("access", "list", expecting: 0).output
        .contains(/Emma +\S+ +owner, 1st/))
    let access = try ben.run("access", "list", expecting: 0).output
    #expect(access.contains(/Emma +Ben +owner, 1st/), "\(access)")
  }
}
