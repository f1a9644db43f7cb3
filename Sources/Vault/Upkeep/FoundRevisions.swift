import VaultModel

/// A revision that lies in the folder, opens with the member's keys, and that no verified head leads to.
///
/// Whoever once had the keys can have put it there, also a viewer, or somebody who was let out: holding keys is not the
/// right to write.
package struct UnvouchedRevision: Sendable {
  package let digest: ContentDigest
  /// What the record is called in it.
  package let title: FileName
  package let record: RecordID
  /// When it says that it was written; milliseconds since 1970.
  package let time: UInt64
  /// Of its encrypted file.
  package let byteCount: UInt64
}

/// The revisions that were found in the folder of a member that is repaired.
struct FoundRevisions {
  struct Found {
    let digest: ContentDigest
    let byteCount: UInt64
    let revision: RecordRevision
  }

  private(set) var vouched: [Found] = []
  private(set) var unvouched: [UnvouchedRevision] = []

  /// - Parameters:
  ///   - roots: What verified heads name; these, and all that they replaced, are vouched for.
  ///   - isVouchedFor: Whether a revision is, whatever names it.
  init(
    _ all: [Found], named roots: Set<ContentDigest>, isVouchedFor: (ContentDigest) -> Bool
  ) {
    let byDigest = Dictionary(all.map { ($0.digest, $0) }) { first, _ in first }
    var reached = roots.union(all.map(\.digest).filter(isVouchedFor))
    var waiting = Array(reached)
    while let digest = waiting.popLast() {
      for older in byDigest[digest]?.revision.previous ?? [] where reached.insert(older).inserted {
        waiting.append(older)
      }
    }
    for found in all {
      if reached.contains(found.digest) {
        vouched.append(found)
      } else {
        unvouched.append(
          UnvouchedRevision(
            digest: found.digest, title: found.revision.place.title, record: found.revision.record,
            time: found.revision.time.milliseconds, byteCount: found.byteCount))
      }
    }
  }
}

extension Member {
  /// Whether nobody but this person ever had the keys.
  var wasNeverShared: Bool {
    register.links.history.everyone == [context.person]
  }

  /// All revisions that segments of verified heads name, as far as these can be read.
  func namedRevisions() throws(VaultError) -> Set<ContentDigest> {
    var names = Set(allEntries().map(\.revision))
    for head in heads.withLock({ Array($0.loaded.values) }) {
      for segment in head.head.segments {
        do throws(VaultError) { names.formUnion(try entries(in: segment).map(\.revision)) } catch {
          switch error {
          case .missing, .damaged: continue
          default: throw error
          }
        }
      }
    }
    return names
  }
}
