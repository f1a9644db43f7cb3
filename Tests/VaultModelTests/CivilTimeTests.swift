import Testing
import VaultModel

struct CivilTimeTests {
  @Test(
    arguments: [
      (0, "1970-01-01 000000"), (951_782_400_000, "2000-02-29 000000"),
      (951_868_800_000, "2000-03-01 000000"), (1_735_689_599_999, "2024-12-31 235959"),
      (1_735_689_600_000, "2025-01-01 000000"), (4_107_542_399_999, "2100-02-28 235959"),
      (4_107_542_400_000, "2100-03-01 000000"),
    ] as [(UInt64, String)])
  func daysAndMonthsAreThoseOfTheCalendar(milliseconds: UInt64, stamp: String) {
    let time = CivilTime(milliseconds: milliseconds)
    #expect(time.stamp == stamp)
    #expect(time.date == stamp.prefix(10))
    #expect(Int(stamp.prefix(4)) == time.year)
    #expect(Int(stamp.dropFirst(5).prefix(2)) == time.month)
  }
}
