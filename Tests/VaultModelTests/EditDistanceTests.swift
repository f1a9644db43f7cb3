import Testing
import VaultModel

struct EditDistanceTests {
  @Test(
    arguments: [
      ("", "", 0), ("", "abc", 3), ("status", "stauts", 1), ("kitten", "sitting", 3),
    ] as [(String, String, Int)])
  func countsLettersThatChange(left: String, right: String, distance: Int) {
    #expect(EditDistance.between(Array(left), Array(right)) == distance)
  }
}
