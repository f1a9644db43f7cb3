import BlobStore
import TestSupport
import VaultModel
import VaultTrust

@testable import Vault

/// Whose keys the adversary may have: a machine's, or words that were replaced.
enum KeyHolder: Hashable, Comparable {
  /// By the machine's number.
  case machine(Int)
  /// By their place among the household's replaced words.
  case words(Int)
}

/// What honest people did so that somebody reads no more, by the files that say so.
///
/// It is told from where these files stand alone, and not by what the program makes of them: a program that has forgotten a
/// rule is not to be asked what that rule gives.
struct Removals {
  private struct Removal {
    let holders: Set<KeyHolder>
    let member: MemberID
    /// The statements that say it.
    let evidence: Set<BlobPath>
    /// Whether it is access that was taken, and not a device or words.
    let isOfAccess: Bool
    /// Somebody gave it again since.
    var isVoid = false
  }

  private var removals: [Removal] = []
  /// Statements that honest people have written.
  private var known: Set<BlobPath> = []
  /// Of links with which honest people begin an epoch, the removals that were to be seen where it was begun.
  private var carried: [MemberID: [BlobPath: Set<Int>]] = [:]

  /// These hold from the beginning.
  mutating func begin(with statements: Set<BlobPath>) { known.formUnion(statements) }

  /// A person does something at a machine; what stands in its folder since is theirs.
  ///
  /// - Parameter foreign: What the adversary has written.
  /// - Returns: Statements that are new.
  mutating func note(
    _ store: MemoryStore, besides foreign: Set<BlobPath>
  ) throws -> Set<BlobPath> {
    let files = store.blobs
    let new = files.keys.filter {
      ($0.string.contains("/links/") || $0.string.contains("/closings/")) && !known.contains($0)
        && !foreign.contains($0)
    }
    known.formUnion(new)
    return Set(new)
  }

  /// - Parameter statements: What is new where it was done.
  mutating func add(
    _ holders: Set<KeyHolder>, outOf member: MemberID, by statements: Set<BlobPath>,
    isOfAccess: Bool = true
  ) {
    if holders.isEmpty || statements.isEmpty { return }
    removals.append(
      Removal(holders: holders, member: member, evidence: statements, isOfAccess: isOfAccess))
  }

  /// They are given it again; which helps no device that was removed.
  mutating func void(_ holders: Set<KeyHolder>, in member: MemberID) {
    for index in removals.indices
    where removals[index].member == member && removals[index].isOfAccess
      && !removals[index].holders.isDisjoint(with: holders)
    {
      removals[index].isVoid = true
    }
  }

  /// Links among new statements that begin an epoch carry out what can be seen beside them.
  mutating func noteCarried(by statements: Set<BlobPath>, in store: MemoryStore) throws {
    if removals.isEmpty { return }
    let files = store.blobs
    for path in statements {
      guard case .link(let member, _) = VaultPath(parsing: path.string), let bytes = files[path],
        try Link(decoding: SignedFile(decoding: bytes).body).epoch != nil
      else { continue }
      carried[member, default: [:]][path] = Set(seen(of: member, in: files))
    }
  }

  private func seen(of member: MemberID, in files: [BlobPath: [UInt8]]) -> [Int] {
    removals.indices.filter { index in
      removals[index].member == member && removals[index].evidence.allSatisfy { files[$0] != nil }
    }
  }

  /// Who reads nothing of what is written now in this folder: those whose removal a link here carries out.
  func carriedOut(of member: MemberID, in files: [BlobPath: [UInt8]]) -> Set<KeyHolder> {
    let links = (carried[member] ?? [:]).filter { files[$0.key] != nil }
    return holders(links.values.reduce(into: []) { $0.formUnion($1) })
  }

  /// Those whose removal is to be seen in this folder.
  func out(of member: MemberID, in files: [BlobPath: [UInt8]]) -> Set<KeyHolder> {
    holders(Set(seen(of: member, in: files)))
  }

  /// Whether the removal of somebody stands in this folder.
  func isHeard(of holder: KeyHolder, in files: [BlobPath: [UInt8]]) -> Bool {
    removals.allSatisfy { removal in
      !removal.holders.contains(holder) || removal.evidence.allSatisfy { files[$0] != nil }
    }
  }

  /// Whether somebody was taken out of this member, and not let in again.
  func isOut(_ holder: KeyHolder, of member: MemberID) -> Bool {
    removals.contains { $0.member == member && !$0.isVoid && $0.holders.contains(holder) }
  }

  /// Those of whose removal nothing is known yet in this folder: there they do what they could before.
  func unheard(in files: [BlobPath: [UInt8]]) -> Set<KeyHolder> {
    holders(Set(removals.indices.filter { !removals[$0].evidence.allSatisfy { files[$0] != nil } }))
  }

  private func holders(_ indices: Set<Int>) -> Set<KeyHolder> {
    indices.reduce(into: []) { holders, index in
      if !removals[index].isVoid { holders.formUnion(removals[index].holders) }
    }
  }
}
