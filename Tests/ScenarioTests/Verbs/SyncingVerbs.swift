import TestSupport
import VaultErrors

@testable import Vault
@testable import VaultSync

extension Verb {
  static let syncing = [
    Verb(
      "syncs",
      .devices { world, devices, _ in
        // Everyone means: until all have the same.
        if devices.count > 1 { return try world.meet(devices, at: world.firstRemote) }
        try devices[0].sync(world.firstRemote)
        world.tick()
      }),
    Verb(
      "sync",
      .devices { world, devices, _ in try world.meet(devices, at: world.firstRemote) }),
    Verb(
      "syncs with REMOTE",
      .devices { world, devices, says in
        let remote = try world.remote(says["REMOTE"], says)
        if devices.count > 1 { return try world.meet(devices, at: remote) }
        try devices[0].sync(remote)
        world.tick()
      }),
    Verb(
      "pushes",
      .eachDevice { world, device, _ in
        try device.sync(world.firstRemote) { $0.direction = .push }
      }),
    Verb(
      "pulls",
      .eachDevice { world, device, _ in
        try device.sync(world.firstRemote) { $0.direction = .pull }
      }),
    Verb(
      "syncs and accepts the mass change",
      .eachDevice { world, device, _ in
        try device.sync(world.firstRemote) { $0.acceptsMassChange = true }
      }),
    Verb(
      "syncs and looks everywhere",
      .eachDevice { world, device, _ in
        try device.sync(world.firstRemote) { $0.looksEverywhere = true }
      }),
    Verb("goes offline", .eachDevice { _, device, _ in device.isOnline = false }),
    Verb("go offline", .eachDevice { _, device, _ in device.isOnline = false }),
    Verb("goes online", .eachDevice { _, device, _ in device.isOnline = true }),
    Verb("go online", .eachDevice { _, device, _ in device.isOnline = true }),
    Verb("locks", .eachDevice { _, device, _ in try device.lock() }),
    Verb(
      "unlocks",
      .eachDevice { _, device, _ in
        do { try device.unlock() } catch let error as VaultError {
          device.messages.append(.init(text: error.message, needsExpecting: true))
        }
      }),
    Verb(
      "unlocks and accepts the older folder",
      .eachDevice { _, device, _ in try device.unlock(acceptsRollback: true) }),
    Verb(
      "forgets REMOTE",
      .eachDevice { world, device, says in
        try device.forget(world.remote(says["REMOTE"], says))
      }),
  ]

  static let crashing = [
    Verb("crashes", .eachDevice { _, device, _ in try device.crash() }),
    Verb("loses power", .eachDevice { _, device, _ in try device.crash(powerCut: 7) }),
    Verb(
      "backs up its folder as NAME",
      .eachDevice { _, device, says in device.backups[says["NAME"]] = device.store.imageAfterKill()
      }
    ),
    Verb(
      "puts back the backup NAME",
      .eachDevice { _, device, says in
        guard let image = device.backups[says["NAME"]] else {
          throw says.wrong("there is no backup “\(says["NAME"])”")
        }
        try device.restore(image)
      }),
  ]

  static let clocks = [
    Verb(
      "is WHEN",
      .world("it") { world, says in
        guard let time = CalendarTime(says["WHEN"]) else {
          throw says.wrong("a time is written as \"2026-03-01 09:30\"")
        }
        world.time.now = time.milliseconds
      }),
    Verb(
      "is COUNT UNIT later",
      .world("it") { world, says in world.time.now += try says.duration() }),
    Verb(
      "sets its clock COUNT UNIT ahead",
      .eachDevice { _, device, says in device.clockOffset = Int64(try says.duration()) }),
    Verb(
      "sets its clock COUNT UNIT behind",
      .eachDevice { _, device, says in device.clockOffset = -Int64(try says.duration()) }),
    Verb("sets its clock right", .eachDevice { _, device, _ in device.clockOffset = 0 }),
  ]
}

extension Sentence {
  /// COUNT and UNIT as milliseconds.
  fileprivate func duration() throws(ScenarioError) -> UInt64 {
    let units: [String: UInt64] = [
      "seconds": 1000, "minutes": 60_000, "hours": 3_600_000, "days": 86_400_000,
      "years": 31_557_600_000,
    ]
    let unit = self["UNIT"].last == "s" ? self["UNIT"] : self["UNIT"] + "s"
    guard let size = units[unit] else { throw wrong("“\(self["UNIT"])” is no unit of time") }
    return try number("COUNT") * size
  }
}
