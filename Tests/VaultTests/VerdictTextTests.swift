import Testing
import VaultErrors
import VaultModel
import VaultTrust

@testable import Vault
@testable import VaultPeople

/// Whatever does not count says why, and with which command it would, or what it was meant for.
@Suite struct VerdictTextTests {
  private static let id = StatementID(storage: Bytes32(exactly: Array(repeating: 5, count: 32)))

  @Test(arguments: [
    (LinkVerdict.waits(for: id), "has not come yet", "kinvault sync"),
    (.departed, "its device has been removed", "kinvault share"),
    (.noPlace, "was no owner", "kinvault share"),
    (.taken(by: id), "a more senior owner", "kinvault share"),
    (.givenUp(by: id), "given their place up", "kinvault share"),
    (.contested(by: id), "given up twice", "kinvault share"),
    (.someoneStays, "stays an owner", "kinvault hand-over"),
  ])
  func aLinkSaysWhyItDoesNotCount(verdict: LinkVerdict, why: String, way: String) throws {
    let problem = try #require(MemberLinks.problem(verdict, path: "a link"))
    #expect(problem.path == "a link")
    #expect("\(problem.reason)".contains(why) && "\(problem.reason)".contains(way))
    #expect(MemberLinks.problem(.counts, path: "a link") == nil)
  }

  /// A head of a viewer, as a changed program writes it, and of an editor whom an owner has let out since.
  @Test(arguments: [false, true])
  func aHeadSaysWhyItDoesNotCount(couldWrite: Bool) throws {
    let adults = try Adults()
    try adults.share(with: adults.ben, couldWrite ? .editor : .viewer)
    if couldWrite {
      let emma = try #require(adults.anna.emma)
      try adults.anna.vault.beginEpoch(of: emma, without: [adults.ben.id])
    }
    try adults.ben.writeRegardlessOfRole("Forged")
    let emma = try #require(adults.anna.emma)
    let path = VaultPath.head(emma.id, adults.ben.vault.device)
    try adults.carry(from: adults.ben, to: adults.anna)
    _ = try emma.refresh()
    #expect(try adults.anna.titles == [])
    let judged = try HeadJudges(
      people: adults.anna.vault.context.people, links: emma.register.links, current: nil, own: nil
    ).judge(adults.ben.vault.device, in: adults.anna.vault.context.signedFiles)
    do throws(VaultError) {
      try judged.requireCounting()
      Issue.record("it counts")
    } catch {
      guard case .damaged(path.string, let reason) = error else { throw error }
      #expect("\(reason)".contains("may not write this member"), "\(reason)")
      #expect("\(reason)".contains("kinvault share"), "\(reason)")
    }
  }
}
