import BlobStore
import TestSupport
import VaultCrypto
import VaultModel
import VaultObjects
import VaultTrust

@testable import Vault

/// Files that need no key.
extension Intruder {
  mutating func writeUnsigned(in house: Household) throws {
    let device = pick(seen.certificates.values.map(\.device).sorted()) ?? .zero
    let person = pick(house.persons) ?? .zero
    let member = pick(seen.links.keys.sorted()) ?? .zero
    let closing = pick((seen.closings[person] ?? [:]).keys.sorted()) ?? .zero
    let noise = random.bytes(1 + number(below: 2_000))
    let paths = [
      "audit/\(device.hex)/1", "audit/\(device.hex)/4611686018427387903",
      "audit/\(device.hex)/18446744073709551615", "audit/\(FileHash.random().hex)/7",
      "people/\(person.hex)/generations/4294967295",
      "people/\(person.hex)/closings/\(FileHash.random().hex)",
      "people/\(person.hex)/certificates/\(FileHash.random().hex)",
      "people/\(person.hex)/requests/\(FileHash.random().hex)",
      "people/\(person.hex)/wraps/\(closing.hex)/\(FileHash.random().hex)",
      "people/\(person.hex)/wraps/\(FileHash.random().hex)/\(device.hex)",
      "people/\(person.hex)/devices/\(FileHash.random().hex)",
      "people/\(FileHash.random().hex)/introduction",
      "people/\(FileHash.random().hex)/closings/\(FileHash.random().hex)",
      "members/\(member.hex)/heads/\(FileHash.random().hex)",
      "members/\(member.hex)/heads/\(device.hex) (conflicted copy)",
      "members/\(member.hex)/links/\(FileHash.random().hex)",
      "members/\(member.hex)/wraps/\(FileHash.random().hex)",
      "members/\(member.hex)/objects/ab/\(FileHash.random().hex.dropFirst(2))",
      "members/\(member.hex)/packs/\(FileHash.random().hex)",
      "members/\(FileHash.random().hex)/root", "members/\(FileHash.random().hex)/grants/1",
      "vault.json.new", ".kinvault", "people/x/y/z", "staging/\(noise.count)",
    ]
    for path in paths where chance(3) {
      let bytes = chance(3) ? honestFile() ?? noise : noise
      try put(BlobPath(path), bytes, in: house)
    }
    trace.append("  unsigned files")
    try writeMutation(in: house)
  }

  private mutating func honestFile() -> [UInt8]? {
    pick(seen.files.keys.sorted { $0.string < $1.string }).flatMap { seen.files[$0] }
  }

  /// An honest file under another path, or with something changed that no signature forbids.
  private mutating func writeMutation(in house: Household) throws {
    let paths = seen.files.keys.filter { $0.string.contains("/") }.sorted { $0.string < $1.string }
    guard let path = pick(paths), let bytes = seen.files[path], let other = pick(paths),
      let folder = other.parent
    else { return }
    try put(folder.appending(FileHash.random().hex), mutated(bytes), in: house)
    try put(folder.appending(path.name), bytes, in: house)
  }

  private mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    switch number(below: 5) {
    case 0: bytes += [0x1a, 0x01, 0x61]
    case 1: bytes = Array(bytes.dropLast(1 + number(below: max(1, bytes.count))))
    case 2:
      if let index = bytes.indices.randomElement(using: &random) {
        bytes[index] ^= 1 << number(below: 8)
      }
    case 3: bytes = []
    default: break
    }
    return bytes
  }

  /// At the end the store itself changes, hides and puts back what honest people have all the same.
  mutating func strikeLast(in house: Household, _ earlier: [BlobPath: [UInt8]]) throws {
    look(at: house)
    for remote in house.remotes {
      for path in remote.blobs.keys.sorted(by: { $0.string < $1.string }) where chance(12) {
        guard let bytes = remote.blobs[path], path != "vault.json",
          house.everyone.contains(where: { $0.store.blobs[path] == bytes })
        else { continue }
        if let forged = try forgedObject(at: path) {
          try remote.replace(path, forged, durably: true)
          continue
        }
        switch number(below: 4) {
        case 0: try remote.remove(path)
        case 1: if let old = earlier[path] { try remote.replace(path, old, durably: true) }
        default: try remote.replace(path, mutated(bytes), durably: true)
        }
      }
    }
    trace.append("  the store strikes")
  }

  /// Other content under the name of an object that is there, sealed as it has to be, where it has the key; mostly nil.
  private mutating func forgedObject(at path: BlobPath) throws -> [UInt8]? {
    guard chance(2), case .object(let member, let name) = VaultPath(parsing: path.string),
      let bytes = seen.files[path], let id = ObjectStore.keyID(of: bytes),
      let keys = epochKeys[member]?.values.first(where: { $0.keyID == id })
    else { return nil }
    let kind = try bytes.withUnsafeBytes { try ObjectHeader(decoding: $0).kind }
    guard kind == .chunk || kind == .record else { return nil }
    do throws(CryptoError) {
      let content = try keys.open(name: name, kind: kind, file: bytes)
      return keys.seal(name: name, kind: kind, content: otherText(content))
    } catch {
      // It is of its own making.
      return nil
    }
  }

  /// The same with other words in it, as many bytes.
  private func otherText(_ content: [UInt8]) -> [UInt8] {
    var content = content
    for index in content.indices.dropFirst() where content[index - 1] == UInt8(ascii: "<") {
      content[index] = UInt8(ascii: "F")
    }
    return content
  }
}
