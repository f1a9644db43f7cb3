import MachineState
import Threads
import VaultErrors
import VaultModel
import VaultPeople
import VaultTrust

/// A revision that lies in the folder, opens with the member's keys, and that no verified head leads to.
///
/// Whoever once had the keys can have put it there, also a viewer, or somebody who was let out: holding keys is not the
/// right to write.
package struct UnvouchedRevision: Sendable {
  /// Why it was left there.
  package enum Refusal: Hashable, Sendable {
    /// By no device that is known here; or what was signed is something else.
    case notSigned
    /// Its parts are not all taken, or nobody's devices would make that of them.
    case unprovedJoin
    /// Its person left the device out and did not list this: others may have its key.
    case removedDevice(Authorship.Author)
    /// The device waits for a closing, or for its person's words.
    case waitingDevice(Authorship.Author)
    /// Whoever signed it may not write the member, or not any more.
    case mayNotWrite(Authorship.Author)
    /// It was written over a change of this device that has not come, or never was, by all that the device's heads say.
    case unreached(Authorship.Author, DeviceID)

    /// Whoever signed it.
    package var author: Authorship.Author? {
      switch self {
      case .notSigned, .unprovedJoin: nil
      case .removedDevice(let author), .waitingDevice(let author), .mayNotWrite(let author),
        .unreached(let author, _):
        author
      }
    }
  }

  package let digest: ContentDigest
  /// What the record is called in it.
  package let title: FileName
  package let record: RecordID
  /// When it says that it was written; milliseconds since 1970.
  package let time: UInt64
  /// Of its encrypted file.
  package let byteCount: UInt64
  package let refusal: Refusal
}

/// The revisions that were found in the folder of a member that is repaired.
struct FoundRevisions {
  struct Found {
    let digest: ContentDigest
    let byteCount: UInt64
    let revision: RecordRevision
    /// Who has signed it, if its signature is right.
    let author: Authorship.Author?
  }

  /// Each may be the newest of its record.
  private(set) var vouched: [Found] = []
  /// Those that one of these has replaced, and that nothing else vouches for.
  private(set) var replaced: [Found] = []
  private(set) var unvouched: [UnvouchedRevision] = []

  /// - Parameters:
  ///   - roots: What verified heads name.
  ///   - refusal: Why a revision that no head names is not taken for itself; nil if it is.
  ///   - isJoin: Whether a revision without a signature is what joining gives of those that it names.
  static func sorted(
    _ all: [Found], named roots: Set<ContentDigest>,
    refusal: (Found) -> UnvouchedRevision.Refusal?,
    isJoin: (Found) throws(VaultError) -> Bool
  ) throws(VaultError) -> FoundRevisions {
    // One may lie there under the keys of several epochs.
    let byDigest = Dictionary(all.map { ($0.digest, $0) }) { first, _ in first }
    let all = byDigest.values.sorted { $0.digest < $1.digest }
    var refusals: [ContentDigest: UnvouchedRevision.Refusal] = [:]
    var vouchedFor = roots
    for found in all {
      refusals[found.digest] = refusal(found)
      if refusals[found.digest] == nil { vouchedFor.insert(found.digest) }
    }
    let joins = all.filter { refusals[$0.digest] != nil && $0.revision.isUnsignedJoin }
    let reached = try reach(
      &vouchedFor, in: byDigest.mapValues(\.revision), joins: joins, isJoin: isJoin)
    var sorted = FoundRevisions()
    for found in all {
      if vouchedFor.contains(found.digest) {
        sorted.vouched.append(found)
      } else if reached.contains(found.digest) {
        sorted.replaced.append(found)
      } else {
        sorted.unvouched.append(UnvouchedRevision(found, refusals[found.digest] ?? .notSigned))
      }
    }
    return sorted
  }
}

extension FoundRevisions {
  /// What those that are vouched for have replaced, themselves included. Of the joins those are vouched for as well whose
  /// parts are reached.
  private static func reach(
    _ vouchedFor: inout Set<ContentDigest>, in revisions: [ContentDigest: RecordRevision],
    joins: [Found], isJoin: (Found) throws(VaultError) -> Bool
  ) throws(VaultError) -> Set<ContentDigest> {
    var joinsOf: [ContentDigest: [Found]] = [:]
    for join in joins {
      for part in Set(join.revision.previous) { joinsOf[part, default: []].append(join) }
    }
    var reached = vouchedFor
    var waiting = Array(reached)
    while let digest = waiting.popLast() {
      let revision = revisions[digest]
      for older in revision?.previous ?? [] where !reached.contains(older) {
        guard let revision, let old = revisions[older], revision.mayReplace(old, named: older)
        else { continue }
        reached.insert(older)
        waiting.append(older)
      }
      for join in joinsOf[digest] ?? [] where !vouchedFor.contains(join.digest) {
        guard join.revision.previous.allSatisfy(reached.contains), try isJoin(join) else {
          continue
        }
        vouchedFor.insert(join.digest)
        if reached.insert(join.digest).inserted { waiting.append(join.digest) }
      }
    }
    return reached
  }

  /// The newest revision of a record that there is.
  func newest(of record: RecordID) -> Found? {
    [vouched, replaced].lazy.compactMap { found in
      found.filter { $0.revision.record == record }.max { $0.revision.time < $1.revision.time }
    }.first
  }
}

extension UnvouchedRevision {
  init(_ found: FoundRevisions.Found, _ refusal: Refusal) {
    self.init(
      digest: found.digest, title: found.revision.place.title, record: found.revision.record,
      time: found.revision.time.milliseconds, byteCount: found.byteCount, refusal: refusal)
  }
}

extension RecordRevision {
  /// Whether this one can have replaced the other: a revision can name anything, also what was not written yet then.
  fileprivate func mayReplace(_ older: RecordRevision, named digest: ContentDigest) -> Bool {
    guard record == older.record, time >= older.time else { return false }
    if version.names(digest) { return true }
    return switch version.compare(to: older.version) {
    case .dominates: true
    // Of several joined one after the other the last one may have brought nothing that others had not seen.
    case .equal: isUnsignedJoin
    case .dominated, .concurrent: false
    }
  }
}

extension Member {
  /// Whether nobody but the present devices of this person ever had the keys.
  var wasNeverShared: Bool {
    register.links.history.everyone == [context.person]
      && context.people[context.person]?.former.isEmpty ?? false
  }

  /// How far devices have come by all that was found: what they have signed, and what this device has, which had read that. Of
  /// those of which no head is left nothing says it.
  func reached(in all: [FoundRevisions.Found]) -> ReachedCounters {
    var reached = heads.withLock { ReachedCounters($0, by: witnesses) }
    for found in all {
      guard let author = found.author?.device else { continue }
      for entry in found.revision.version.entries
      where entry.device == author || author == context.device.id {
        reached.add(entry.counter, of: entry.device)
      }
    }
    return reached
  }

  /// Why a revision that no head names is not taken; nil if whoever signed it may write the member now, and it goes on from nothing
  /// that a device has not come to.
  func refusal(
    of found: FoundRevisions.Found, _ reached: ReachedCounters
  ) -> UnvouchedRevision.Refusal? {
    guard let author = found.author, let signature = found.revision.signature else {
      return found.revision.isUnsignedJoin ? .unprovedJoin : .notSigned
    }
    switch context.people.trust.device(signature.certificate) {
    case .counts: break
    case .former:
      // What its person listed is theirs as before.
      guard author.standing == .listed else { return .removedDevice(author) }
    case .waiting: return .waitingDevice(author)
    case .unknown: return .notSigned
    }
    let mayWrite = register.links.access.mayWrite(
      author.person, at: context.clock.milliseconds())
    guard mayWrite else { return .mayNotWrite(author) }
    return unreached(found.revision.version, reached, where: reached.isKnown)
      .map { .unreached(author, $0) }
  }

  /// All revisions that segments of verified heads name, as far as these can be read, but those that wait.
  func namedRevisions() throws(VaultError) -> Set<ContentDigest> {
    var names: Set<ContentDigest> = []
    let (loaded, held) = heads.withLock { (Array($0.loaded.values), $0.held) }
    for head in loaded {
      for segment in head.head.segments {
        do { names.formUnion(try entries(in: segment).map(\.revision)) } catch {
          guard error.isDamage else { throw error }
        }
      }
    }
    names.subtract(held.map(\.entry.revision))
    return names.union(allEntries().map(\.revision))
  }
}
