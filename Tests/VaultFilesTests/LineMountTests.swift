import Foundation
import TestSupport
import Testing
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

@testable import VaultFiles

/// Mounts of a machine, of a copy of its disk, and of another device, whose folders a program copies to and fro while the
/// first machine's disk is put back now and then: nothing is lost, and every mount shows what a fresh one does.
@Suite struct LineMountTests {
  /// A machine with its disk, which holds the vault's folder and the state.
  private final class Machine {
    let disk: FilePath
    let folder: FilePath
    private let stateRoot: FilePath
    // Asked for once, since that takes long.
    private let key: DeviceUnlockKey
    private(set) var vault: Vault
    private(set) var tree: FileTree

    init(disk: FilePath, folder: String = "vault", state: String = "state") throws {
      self.disk = disk
      self.folder = disk.appending(folder)
      stateRoot = disk.appending(state)
      let copy = try VaultCopy.find(in: self.folder, stateRoot: stateRoot)
      key = try UnlockSlots(of: copy)
        .open(password: SecretBytes(copying: MountedVault.password)).takeKey()
      vault = try Vault.open(copy, key: key)
      tree = FileTree.load(vault: vault, options: Self.options)
    }

    static let options = FileTreeOptions(uid: 1000, gid: 1000)

    private func open(readOnly: Bool = false) throws -> Vault {
      try Vault.open(
        .find(in: folder, stateRoot: stateRoot), key: key,
        options: OpenOptions(readOnly: readOnly))
    }

    /// Ends the mount, changes the disk under it, and begins another one.
    func remount(_ change: () throws -> Void) throws {
      try tree.commitNow()
      try vault.close()
      try change()
      vault = try open()
      tree = FileTree.load(vault: vault, options: Self.options)
      tree.refresh()
    }

    /// What a process that begins now finds wrong with the vault, but for notes.
    func problems() throws -> [Problem] {
      let process = try open(readOnly: true)
      let problems = try process.check(readsData: true).problems
      try process.close()
      return problems.filter { $0.severity > .note }
    }

    /// What the mount shows otherwise than one that begins now.
    func differencesFromFresh() throws -> [String] {
      let process = try open(readOnly: true)
      let fresh = try FileTree.load(vault: process, options: Self.options).snapshot()
      try process.close()
      let live = try tree.snapshot()
      return Set(fresh.keys).union(live.keys).filter { fresh[$0] != live[$0] }.sorted().map {
        "\($0): live \(live[$0].map(\.description) ?? "-"), fresh \(fresh[$0].map(\.description) ?? "-")"
      }
    }
  }

  private static func copy(_ source: FilePath, _ target: FilePath, _ options: String) throws {
    let copy = try CommandRunner.run("cp", [options, "\(source.string)/.", target.string])
    try #require(copy.status == 0, "\(copy.errors)")
  }

  /// Texts that have to be found at the end.
  private struct Ledger {
    var wanted: Set<String> = []
    private var count = 0

    mutating func newText() -> String {
      count += 1
      wanted.insert("text \(count)")
      return "text \(count)"
    }
  }

  private static func texts(_ machine: Machine) throws -> Set<String> {
    Set(try ApartDevices.files(machine.tree).values)
  }

  /// The newer files come into the other folder, as a stick carries them.
  private func carry(from source: Machine, to target: Machine) throws {
    try source.tree.commitNow()
    try target.tree.commitNow()
    try Self.copy(source.folder, target.folder, "-au")
    target.tree.refresh()
  }

  private func edit(
    _ machine: Machine, _ ledger: inout Ledger, _ random: inout SplitMix64
  ) throws {
    let shown = try ApartDevices.files(machine.tree).filter {
      !$0.key.contains(ConflictMark.folderTitle)
    }
    let path = "Emma/file \(Int.random(in: 0..<6, using: &random))"
    if let before = shown[path] {
      ledger.wanted.remove(before)
      if Int.random(in: 0..<4, using: &random) == 0 {
        try machine.tree.unlink(path)
        return try machine.tree.commitNow()
      }
    }
    try machine.tree.write(path, ledger.newText())
    try machine.tree.commitNow()
  }

  private static func makeFolder(_ path: FilePath) throws {
    try FileManager.default.createDirectory(
      atPath: path.string, withIntermediateDirectories: true)
  }

  /// The first machine, a copy of it, and another device of the same person; `made` holds them all.
  private static func machines(_ made: MountedVault) throws -> [Machine] {
    let root = made.folder.removingLastComponent()
    let disks = ["first", "copy", "other"].map { root.appending($0) }
    try made.crash(opensAgain: false)
    for disk in disks {
      try makeFolder(disk.appending("vault"))
      try makeFolder(disk.appending("state"))
      try copy(made.folder, disk.appending("vault"), "-a")
    }
    _ = try made.enrolAnotherDevice(in: disks[2].appending("vault"))
    try copy(made.stateRoot, disks[0].appending("state"), "-a")
    try copy(made.stateRoot, disks[1].appending("state"), "-a")
    try copy(root.appending("other state"), disks[2].appending("state"), "-a")
    return try disks.map { try Machine(disk: $0) }
  }

  /// Everything is carried everywhere until nothing is news, and all show the same.
  private func settle(_ machines: [Machine]) throws -> [String: String] {
    for _ in 0..<3 {
      for source in machines {
        for target in machines where target !== source { try carry(from: source, to: target) }
      }
    }
    for _ in 0..<3 {
      for machine in machines {
        try machine.tree.commitNow()
        machine.tree.refresh()
      }
    }
    let shown = try ApartDevices.files(machines[0].tree)
    for machine in machines {
      #expect(try ApartDevices.files(machine.tree) == shown)
      #expect(try machine.differencesFromFresh() == [], "\(machine.disk)")
      #expect(try machine.problems() == [])
    }
    return shown
  }

  @Test(arguments: Seeds.first(12, unless: "KINVAULT_LIVE_SEEDS"))
  func nothingIsLostAndAllMountsAgree(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var ledger = Ledger()
    let made = try MountedVault()
    try made.tree.mkdir("Emma")
    try made.tree.write("Emma/file 0", ledger.newText())
    try made.tree.commitNow()
    let machines = try Self.machines(made)
    let backup = made.folder.removingLastComponent().appending("backup")
    var known: Set<String>?
    for _ in 0..<24 {
      let machine = machines[Int.random(in: 0..<3, using: &random)]
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        try machines[0].remount {
          if known != nil { try FileManager.default.removeItem(atPath: backup.string) }
          try Self.makeFolder(backup)
          try Self.copy(machines[0].disk, backup, "-a")
        }
        known = try Self.texts(machines[0])
      case 1:
        guard let known else { continue }
        // What was written since and nobody else has seen is gone with it.
        let elsewhere = try Self.texts(machines[1]).union(Self.texts(machines[2]))
        ledger.wanted.formIntersection(known.union(elsewhere))
        try machines[0].remount {
          try FileManager.default.removeItem(atPath: machines[0].disk.string)
          try Self.makeFolder(machines[0].disk)
          try Self.copy(backup, machines[0].disk, "-a")
        }
      case 2...6: try edit(machine, &ledger, &random)
      default:
        let target = machines[Int.random(in: 0..<3, using: &random)]
        if target !== machine { try carry(from: machine, to: target) }
      }
      #expect(try machine.differencesFromFresh() == [], "\(machine.disk)")
    }
    let shown = try settle(machines)
    #expect(ledger.wanted.subtracting(shown.values) == [])
    withExtendedLifetime(made) {}
  }

  /// The copy goes on from what the first machine wrote before it was put back; the first one then writes under the same
  /// number. Whoever meets both must not take what the copy made of the one for what follows the other.
  @Test func whatWasWrittenUnderTheSameNumberIsNotTakenForSeen() throws {
    let made = try MountedVault()
    try made.tree.mkdir("Emma")
    try made.tree.write("Emma/file", "at first")
    try made.tree.commitNow()
    let machines = try Self.machines(made)
    let (first, copy, other) = (machines[0], machines[1], machines[2])
    let backup = made.folder.removingLastComponent().appending("backup")
    try first.remount {
      try Self.makeFolder(backup)
      try Self.copy(first.disk, backup, "-a")
    }
    try copy.tree.write("Emma/other file", "by the copy")
    try carry(from: copy, to: other)
    try first.tree.write("Emma/file", "seen by the copy")
    try carry(from: first, to: copy)
    try copy.tree.write("Emma/file", "made of it by the copy")
    try copy.tree.commitNow()
    try first.remount {
      try FileManager.default.removeItem(atPath: first.disk.string)
      try Self.makeFolder(first.disk)
      try Self.copy(backup, first.disk, "-a")
    }
    try first.tree.write("Emma/file", "written after that")
    try carry(from: first, to: other)
    try carry(from: copy, to: other)
    try carry(from: other, to: first)
    let shown = try settle(machines)
    let wanted: Set = ["by the copy", "made of it by the copy", "written after that"]
    #expect(wanted.subtracting(shown.values) == [])
    withExtendedLifetime(made) {}
  }
}
