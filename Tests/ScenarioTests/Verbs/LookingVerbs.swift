import VaultErrors
import VaultModel

@testable import Vault
@testable import VaultFiles

extension Verb {
  /// What is seen. Several devices that look must see the same.
  static let looking = [
    Verb("sees", isLook: true, .devices(Look.tree)),
    Verb("see", isLook: true, .devices(Look.tree)),
    Verb("sees nothing", isLook: true, .devices(Look.nothing)),
    Verb("lists conflicts", isLook: true, .devices(Look.conflicts)),
    Verb("list conflicts", isLook: true, .devices(Look.conflicts)),
    Verb("lists no conflicts", isLook: true, .devices(Look.conflicts)),
    Verb("list no conflicts", isLook: true, .devices(Look.conflicts)),
    Verb("sees COUNT records", isLook: true, .devices(Look.recordCount)),
    Verb("see COUNT records", isLook: true, .devices(Look.recordCount)),
    Verb("lists COUNT conflicts", isLook: true, .devices(Look.conflictCount)),
    Verb("is told", isLook: true, .devices(Look.messages)),
    Verb(
      "notices the clock of DEVICE", isLook: true,
      .devices { world, devices, says in
        guard let other = world.devices.first(where: { $0.name == says["DEVICE"] }) else {
          throw says.wrong("there is no device “\(says["DEVICE"])”")
        }
        for device in devices where try device.vault.clocksAhead()[other.vault.device] == nil {
          throw says.wrong("\(device.name) does not notice that a clock is wrong")
        }
      }),
    Verb("has a whole vault", isLook: true, .devices(Look.wholeness)),
    Verb("have a whole vault", isLook: true, .devices(Look.wholeness)),
  ]
}

/// The expectations, compared with what is there.
private enum Look {
  static func tree(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    try same(devices, says) { device in
      try device.tree.everything().map { path, content in
        content.map { "\(path) = \(world.shown($0))" } ?? path
      }
    }
  }

  static func nothing(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    for device in devices {
      let seen = try device.tree.everything().filter { $0.path != "/" }
      guard seen.isEmpty else {
        throw says.wrong("\(device.name) sees \(seen.map(\.path).joined(separator: ", "))")
      }
    }
  }

  static func conflicts(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    if says.step.words.contains(where: { $0.text == "no" }) != says.step.block.isEmpty {
      throw says.wrong("say “lists no conflicts”, or list them below, indented")
    }
    try same(devices, says) { device in
      try device.vault.members.flatMap { member in
        try member.keptConflicts().map { conflict in
          let path = member.displayPath(of: conflict.mark.record)
          let time = CivilTime(milliseconds: conflict.mark.time.milliseconds).stamp
          let files = conflict.items.map(\.name.string).sorted().joined(separator: ", ")
          return
            "\(path) by \(try device.vault.name(of: conflict.mark.device)) at \(time): \(files)"
        }
      }
    }
  }

  static func wholeness(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    for device in devices {
      let problems = try device.vault.check(readsData: true).problems
      if let problem = problems.first(where: { $0.severity > .note }) {
        throw says.wrong("\(device.name): \(problem.path): \(problem.reason)")
      }
    }
  }

  static func recordCount(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    let expected = try says.number("COUNT")
    for device in devices {
      // The members themselves are no records to a person.
      let seen = try device.vault.members.reduce(0) { $0 + $1.recordCount - 1 }
      guard seen == expected else { throw says.wrong("\(device.name) sees \(seen)") }
    }
  }

  static func conflictCount(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    let expected = try says.number("COUNT")
    for device in devices {
      let seen = try device.vault.members.reduce(0) { try $0 + $1.keptConflicts().count }
      guard seen == expected else { throw says.wrong("\(device.name) lists \(seen)") }
    }
  }

  /// Each line is part of a message, and every message that matters is in one of the lines.
  static func messages(_ world: World, _ devices: [Device], _ says: Sentence) throws {
    for device in devices {
      for line in says.step.block
      where !device.messages.contains(where: { $0.text.contains(line.text) }) {
        let told = device.messages.map { "\n  \($0.text)" }.joined()
        throw says.wrong(
          "line \(line.line): \(device.name) was not told “\(line.text)”, but\(told.isEmpty ? " nothing" : told)"
        )
      }
      device.messages.removeAll { message in
        says.step.block.contains { message.text.contains($0.text) }
      }
    }
  }

  /// All see what one of the blocks says, and all the same.
  private static func same(
    _ devices: [Device], _ says: Sentence, _ look: (Device) throws -> [String]
  ) throws {
    var first: [String]?
    for device in devices {
      let seen = try look(device).sorted()
      let blocks = ([says.step.block] + says.step.alternatives).map { $0.map(\.text) }
      guard blocks.contains(where: { Pattern.match($0, seen) }) else {
        throw says.wrong(Pattern.difference(blocks, seen, seenBy: device.name))
      }
      if let first, first != seen {
        throw says.wrong(
          "\(devices[0].name) and \(device.name) see different things:\n  "
            + first.joined(separator: "\n  ") + "\nand\n  " + seen.joined(separator: "\n  "))
      }
      first = seen
    }
  }
}
