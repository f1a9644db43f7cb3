import Foundation
import Testing

/// Whose revisions are, as section 8 of the format tells it, and as the program told it when the vaults were frozen.
@Suite struct RevisionJudgeTests {
  /// A row of `<name>.revisions.json`.
  private struct Row: Decodable {
    let authorship: String
    let device: String?
    let person: String?
    let isRemoved: Bool?
    let isListed: Bool?

    func whose() throws -> RevisionJudge.Whose {
      switch authorship {
      case "signed":
        guard let device, let person, let isRemoved else { throw Refused("a row without a signer") }
        return .signed(
          device: try Array(hex: device), person: try Array(hex: person),
          isRemoved ? isListed == true ? .listed : .unlisted : .counts)
      case "joined": return .joined
      case "brought": return .brought
      default: throw Refused("an authorship: \(authorship)")
      }
    }
  }

  private static func expected(_ name: String) throws -> [[UInt8]: RevisionJudge.Whose] {
    let json = try Data(contentsOf: FrozenVault.fixtures.appending(path: "\(name).revisions.json"))
    let rows = try JSONDecoder().decode([String: Row].self, from: json)
    return Dictionary(
      uniqueKeysWithValues: try rows.map { (try Array(hex: $0.key), try $0.value.whose()) })
  }

  /// Those of every member that the person of these words may read.
  private static func judges(_ name: String, _ words: String) throws -> [RevisionJudge] {
    let vault = try FrozenVault(name)
    let (people, person) = (try vault.people(), try vault.person(words))
    return try vault.names(in: "members").compactMap { member in
      try MemberReader(member, of: vault, as: person).map {
        RevisionJudge(reader: $0, people: people)
      }
    }
  }

  @Test(arguments: [("2", "words"), ("2-shared", "words.anna")])
  func whoseEveryRevisionIs(name: String, words: String) throws {
    var found: [[UInt8]: RevisionJudge.Whose] = [:]
    for judge in try Self.judges(name, words) {
      found.merge(try judge.all()) { one, _ in one }
    }
    let expected = try Self.expected(name)
    #expect(!expected.isEmpty)
    #expect(Set(found.keys) == Set(expected.keys))
    for (digest, whose) in expected { #expect(found[digest] == whose, "\(digest.hex)") }
    // Nothing that this program has written is without its proof.
    #expect(!found.values.contains(.brought))
  }

  /// Two people and four devices have written, one of them was removed, and one record was joined. Of what the removed one has
  /// signed its person listed two revisions, and not the one that it signed afterwards.
  @Test func theSharedVaultHasEveryKind() throws {
    let all = try Self.expected("2-shared").values
    var devices: [[UInt8]: Set<[UInt8]>] = [:]
    var removed: Set<[UInt8]> = []
    for case .signed(let device, let person, let standing) in all {
      devices[person, default: []].insert(device)
      if standing != .counts { removed.insert(device) }
    }
    func count(_ wanted: RevisionJudge.Standing) -> Int {
      all.count { if case .signed(_, _, wanted) = $0 { true } else { false } }
    }
    #expect(count(.listed) == 2)
    #expect(count(.unlisted) == 1)
    #expect(devices.count == 2)
    #expect(devices.values.map(\.count).sorted() == [1, 3])
    #expect(removed.count == 1)
    #expect(all.count { $0 == .joined } == 1)
  }

  /// What proves a signed revision holds for none of the others that its bytes could be made into.
  @Test func noBitOfASignedRevisionCanBeChanged() throws {
    let judge = try #require(try Self.judges("2", "words").first)
    let digest = try #require(try judge.reader.entries().values.first).bytes(6)
    let bytes = try judge.reader.object(digest, .record)
    guard case .signed = try judge.whose(bytes) else {
      Issue.record("it is not signed")
      return
    }
    for position in bytes.indices {
      for bit in 0..<8 {
        var copy = bytes
        copy[position] ^= 1 << bit
        if case .signed = (try? judge.whose(copy)) ?? .brought {
          Issue.record("bit \(bit) of byte \(position)")
        }
      }
    }
  }

  /// A signature is of one member: the same bytes in another one are not signed.
  @Test func aSignatureIsOfOneMember() throws {
    let judges = try Self.judges("2", "words")
    let (one, other) = (try #require(judges.first), try #require(judges.last))
    let digest = try #require(try one.reader.entries().values.first).bytes(6)
    let bytes = try one.reader.object(digest, .record)
    #expect(try other.whose(bytes) == .brought)
  }

  /// Of a join every byte comes of its parts.
  @Test func aChangedJoinIsNone() throws {
    let expected = try Self.expected("2-shared")
    let joined = try #require(expected.first { $0.value == .joined }).key
    let judges = try Self.judges("2-shared", "words.anna")
    let judge = try #require(judges.first { $0.reader.has(joined) })
    let bytes = try judge.reader.object(joined, .record)
    #expect(try judge.whose(bytes) == .joined)
    for position in bytes.indices {
      var copy = bytes
      copy[position] ^= 1
      if (try? judge.whose(copy)) == .joined { Issue.record("byte \(position)") }
    }
  }
}
