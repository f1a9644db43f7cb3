import Rendering
import Vault
import VaultErrors
import VaultModel

/// Searches in the members of an open vault. For one thread at a time.
///
/// Each search first takes in what was changed since, by whomever: it compares what the manifests name with what it has.
package final class VaultSearch {
  private let vault: Vault
  private let cutter: WordCutter
  private let renderer: Renderer?
  private var indexes: [MemberID: MemberIndex] = [:]

  /// - Parameter renderer: What opens PDFs; without it they are found by their names alone.
  package init(_ vault: Vault, _ renderer: Renderer?) throws(SearchError) {
    (self.vault, self.renderer) = (vault, renderer)
    cutter = try WordCutter()
  }

  /// What a text looks for.
  package func query(_ text: String) -> SearchQuery { SearchQuery(text, cutter) }

  /// Brings what is known of these members up to date.
  ///
  /// - Parameter progress: Told how many records of how many have been read.
  package func catchUp(
    _ members: [Member], _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws(SearchError) {
    let present = Set(vault.members.filter { $0.role != nil }.map(\.id))
    // Nothing is kept of a member to which access has ended.
    indexes = indexes.filter { present.contains($0.key) }
    for member in members where present.contains(member.id) {
      let index: MemberIndex
      // One that was closed meanwhile is opened anew as another.
      if let known = indexes[member.id], known.member === member {
        index = known
      } else {
        index = try MemberIndex.load(of: member, cutter, renderer)
      }
      indexes[member.id] = index
      try index.catchUp(progress)
    }
  }

  /// A record that was found.
  package struct Hit {
    package let member: Member
    package let entry: RecordEntry
    fileprivate let key: RecordAge
  }

  /// The records of these members that have what is looked for, as of the last `catchUp`: those that `isWanted` lets through.
  ///
  /// - Parameter limit: So many are given, the newest first (`RecordAge`).
  /// - Returns: Also how many there are.
  package func find(
    _ query: SearchQuery, in members: [Member], limit: Int, isWanted: (RecordEntry) -> Bool
  ) throws(SearchError) -> (hits: [Hit], total: Int) {
    var hits: [Hit] = []
    // Of those that are kept, once there are as many as are wanted: what is older than that is only counted.
    var oldest: RecordAge?
    var total = 0
    for member in members {
      guard let index = indexes[member.id] else { continue }
      for row in try index.matches(query) {
        let entry = index.entries[Int(index.entryOf[row])]
        guard isWanted(entry) else { continue }
        total += 1
        let key = RecordAge(entry)
        if let oldest, key < oldest { continue }
        hits.append(Hit(member: member, entry: entry, key: key))
        if hits.count > 2 * limit + 100 {
          hits = Self.newest(hits, limit)
          oldest = hits.last?.key
        }
      }
    }
    return (Self.newest(hits, limit), total)
  }

  private static func newest(_ hits: [Hit], _ limit: Int) -> [Hit] {
    Array(hits.sorted { $1.key < $0.key }.prefix(limit))
  }

  /// The records of a member that have what is looked for.
  package func records(
    matching query: SearchQuery, of member: Member
  ) throws(SearchError) -> Set<RecordID> {
    guard let index = indexes[member.id] else { return [] }
    return Set(try index.matches(query).map { index.entries[Int(index.entryOf[$0])].record })
  }

  /// Where in a record it was found. Reads the record.
  package func excerpt(of hit: Hit, _ query: SearchQuery) throws(SearchError) -> Excerpt {
    let text = try reading(RecordText.read(hit.entry, of: hit.member, renderer).text)
    return Excerpt(of: text, query, cutter)
  }
}
