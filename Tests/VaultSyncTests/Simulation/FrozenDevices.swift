import BlobStore
import Foundation
import MachineState
import TestSupport
import Testing
import VaultCrypto
import VaultModel

import struct SystemPackage.FileDescriptor
import struct SystemPackage.FilePath

@testable import Vault

/// Devices of one person whose keys never change, so that a seed gives the same schedule in every process: names of objects,
/// and so the order in which versions are joined, depend on the keys.
///
/// `Fixtures/devices/frozen` holds their files in lines: `vault <id>`, `words` with the person's 24 words, then for each
/// device `device`, and `store <path> <hex>` and `state <path> <hex>` for each of its files. The password of all is `pw`.
struct FrozenDevices: Sendable {
  let vault: VaultID
  /// The person's 24.
  let words: String
  let seeds: [Family.Seed]

  static let all = Result { try FrozenDevices() }

  private static let file = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent().removingLastComponent().appending("Fixtures/devices/frozen")

  private init() throws {
    let text = String(
      decoding: try Data(contentsOf: URL(filePath: Self.file.string)), as: UTF8.self)
    var vault: VaultID?
    var paper = ""
    var files: [(store: MemoryStore, state: MemoryStore)] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      switch (words[0], words.count) {
      case ("vault", 2): vault = VaultID(hex: words[1])
      case ("words", 1 + RecoveryWords.count): paper = words.dropFirst().joined(separator: " ")
      case ("device", 1): files.append((MemoryStore(), MemoryStore()))
      case ("store", 3), ("state", 3):
        let device = try #require(files.last)
        let bytes = try #require(Hex.decode(String(words[2])))
        try (words[0] == "store" ? device.store : device.state).replace(
          BlobPath(String(words[1])), bytes, durably: true)
      default: throw Unreadable(line: String(line.prefix(60)))
      }
    }
    let id = try #require(vault)
    self.vault = id
    words = paper
    seeds = try files.map { store, state in
      let key = try UnlockSlots(vault: id, state: StateFolder(store: state))
        .open(password: SecretBytes(copying: Array("pw".utf8))).takeKey()
      return Family.Seed(store: store, state: state, key: Family.UnlockKey(key))
    }
    try #require(seeds.count == 4)
  }

  struct Unreadable: Error {
    let line: String
  }

  /// Writes new ones.
  static func freeze() throws {
    let id = VaultID.random()
    let password = SecretBytes(copying: Array("pw".utf8))
    var stores = [(store: MemoryStore(), state: MemoryStore())]
    let created = try Vault.create(
      VaultCopy(
        id: id, store: stores[0].store, state: StateFolder(store: stores[0].state), clock: clock),
      device: Family.newDevice, password: password)
    let people = stores[0].store.blobs
    for _ in 1..<4 {
      let (store, state) = (MemoryStore(), MemoryStore())
      for (path, bytes) in people { try store.replace(path, bytes, durably: true) }
      _ = try Vault.recover(
        VaultCopy(id: id, store: store, state: StateFolder(store: state), clock: clock),
        words: created.words, device: Family.newDevice, password: password)
      stores.append((store, state))
    }
    let vault = try Vault.open(
      VaultCopy(
        id: id, store: stores[0].store, state: StateFolder(store: stores[0].state), clock: clock),
      key: created.unlockKey, options: OpenOptions())
    _ = try vault.addMember(named: #require(FileName("Emma")))
    try vault.close()
    // All have met.
    let everything = stores.reduce(into: [:]) { all, device in
      all.merge(device.store.blobs) { first, _ in first }
    }
    for (store, _) in stores {
      for (path, bytes) in everything { try store.replace(path, bytes, durably: true) }
    }
    var lines = ["vault \(id.hex)", "words \(created.words.words.joined(separator: " "))"]
    for (store, state) in stores {
      lines.append("device")
      for (kind, files) in [("store", store), ("state", state)] {
        for (path, bytes) in files.blobs.sorted(by: { $0.key.string < $1.key.string }) {
          lines.append("\(kind) \(path.string) \(Hex.encode(bytes))")
        }
      }
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: file.string))
  }

  private static let clock = WallClock { 1_700_000_000_000 }
}
