import BlobStore
import TestSupport
import VaultCrypto
import VaultModel
import VaultTrust

@testable import Vault

/// What must hold after a schedule whatever the adversary did.
struct AdversaryChecks {
  let attacked: Household
  let honest: Household
  let intruder: Intruder
  let hasEditor: Bool
  let leaving: Set<PersonID>

  func failures(expecting expected: HouseholdView) throws -> [String] {
    let view = try HouseholdView(of: attacked, withoutContents: false, leaving)
    let compared = try HouseholdView(of: attacked, withoutContents: hasEditor, leaving)
    return try compared.differences(from: expected, "view") + view.disagreements(of: attacked)
      + secrets() + authors() + wholeness() + links()
  }

  // MARK: What opens

  /// What was written where it was seen who is out opens with none of the keys of those.
  private func secrets() throws -> [String] {
    var files: [BlobPath: [UInt8]] = intruder.seen.files
    for machine in attacked.everyone { files.merge(machine.store.blobs) { first, _ in first } }
    let readable = try StolenKeys(of: intruder, files: files).readable(in: files)
    let devices = intruder.devices
    let rootKeys = try StolenKeys.rootKeys(of: intruder)
    return attacked.ledger.entries.compactMap { text, entry in
      guard let readers = entry.readers, readers.isDisjoint(with: devices),
        entry.wordKeys.isDisjoint(with: rootKeys),
        readable.contains(text)
      else { return nil }
      return "secrets: \(text) of \(entry.device.shortHex) opens with the adversary's keys"
    }
  }

  // MARK: Whose it is

  /// Whatever honest people have not written is shown as that of a device which is the adversary's.
  private func authors() throws -> [String] {
    var failures: [String] = []
    for machine in attacked.everyone {
      for (name, id) in attacked.members {
        guard let member = machine.vault.member(id) else { continue }
        for entry in member.allEntries() where !entry.isDeleted && entry.record != .root {
          for found in try member.history(of: entry.record) {
            failures += try authorFailures(found, member, "\(machine.name): \(name)")
          }
        }
      }
    }
    return failures
  }

  private func authorFailures(
    _ found: (digest: ContentDigest, revision: RecordRevision), _ member: Member, _ place: String
  ) throws -> [String] {
    guard case .signed(let author) = try member.authorship(of: found.digest) else { return [] }
    let own = try texts(of: found.revision, in: member)
    var before: Set<String> = []
    for previous in found.revision.previous {
      // What was replaced may be collected.
      if let older = try? member.revision(previous) {
        before.formUnion(try texts(of: older, in: member))
      } else {
        return []
      }
    }
    return own.subtracting(before).compactMap { text in
      let writer = attacked.ledger.entries[text]?.device
      if writer == author.device || writer == nil && intruder.devices.contains(author.device) {
        return nil
      }
      return "authors: \(place): \(text) is shown as \(author.device.shortHex)'s"
    }
  }

  private func texts(of revision: RecordRevision, in member: Member) throws -> Set<String> {
    guard let document = revision.document, !document.isDeleted else { return [] }
    let bytes = try member.beginning(of: document, byteCount: 64)
    return [String(decoding: bytes, as: UTF8.self)]
  }

  /// Nobody without the right has written anything that shows.
  private func wholeness() throws -> [String] {
    var failures: [String] = []
    for machine in attacked.everyone {
      let problems = try machine.vault.check(readsData: true).problems
      failures += problems.filter { $0.severity == .damage && isHonest($0.path) }.map {
        "whole: \(machine.name): \($0.path): \($0.reason)"
      }
    }
    return failures
  }

  /// Whether the file is one that honest people have written.
  private func isHonest(_ path: String) -> Bool {
    guard intruder.written[BlobPath(path)] == nil else { return false }
    let ours = Set(attacked.members.values.map(\.hex))
    let parts = path.split(separator: "/")
    return parts.first != "members" || parts.count > 1 && ours.contains(String(parts[1]))
  }

  // MARK: Cost

  /// What honest people write about access grows with what they do, whatever others write.
  private func links() -> [String] {
    let (with, without) = (honestLinks(of: attacked), honestLinks(of: honest))
    guard with > without + 2 else { return [] }
    return ["links: honest people have written \(with) links instead of \(without)"]
  }

  private func honestLinks(of house: Household) -> Int {
    var paths: Set<BlobPath> = []
    for machine in house.everyone {
      paths.formUnion(machine.store.blobs.keys.filter { $0.string.contains("/links/") })
    }
    return paths.subtracting(intruder.written.keys).count
  }

  /// All come to rest, whoever is idle writes nothing, and no sync reads more than the adversary has written.
  func restFailures(isAtRest: Bool, read: UInt64, readAlone: UInt64) throws -> [String] {
    guard isAtRest else { return ["rest: the machines go on moving files"] }
    var failures: [String] = []
    for machine in attacked.everyone {
      let before = machine.store.blobs
      attacked.tick()
      for remote in attacked.remotes.indices { try attacked.sync(machine, remote) }
      let changed = machine.store.blobs.filter { before[$0.key] != $0.value }
      if !changed.isEmpty {
        failures.append("rest: \(machine.name) writes \(changed.keys.map(\.string).sorted())")
      }
    }
    let syncCount = UInt64(attacked.everyone.count * attacked.remotes.count)
    if read > readAlone + (UInt64(intruder.byteCount) + 1_024) * syncCount {
      failures.append("cost: at rest \(read) bytes are read instead of \(readAlone)")
    }
    return failures
  }
}
