import Testing
import VaultModel

@testable import kinvault

/// Which end of a place that was given up twice a person names.
@Suite struct PlaceEndTests {
  private func end(_ digits: String) throws -> PlacesInWords.End {
    PlacesInWords.End(
      member: .zero, memberName: "Emma", giver: "Anna",
      link: try #require(StatementID(hex: digits + String(repeating: "0", count: 52))),
      taker: nil, time: 0, counts: false, isRemembered: false, isRefused: false, isSettled: false)
  }

  @Test func digitsOfSeveralNameNone() throws {
    let ends = [try end("3f2a91000000"), try end("3f2a91111111")]
    #expect {
      try PlacesInWords.end("3f2a91", among: ends)
    } throws: { error in
      let report = FailureReport(error)
      return report.status == .usage
        && report.message
          == "More than one is called that. Name one by the id: 3f2a91000000, 3f2a91111111"
    }
    #expect(try PlacesInWords.end("3F2A911", among: ends)?.id == ends[1].id)
    #expect(try PlacesInWords.end("3f2a9", among: ends) == nil)
    #expect(try PlacesInWords.end("3f2a92", among: ends) == nil)
  }
}
