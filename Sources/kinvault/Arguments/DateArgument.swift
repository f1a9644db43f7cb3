import ArgumentParser
import Notes
import Vault

/// A date as records have it: `2025-01-20`, or as much of it as is known: `2025-01`, `2025`; typed so, or as notes may have it,
/// `20.1.2025` or `1.2025`.
struct DateArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    text = RecordDate.reading(argument)
    guard RecordDate.isWritten(text) else { return nil }
  }

  /// When the day begins that comes so many days after this one, in this machine's time; milliseconds since 1970, and nil
  /// where no day is named.
  func begin(addingDays days: Int = 0) -> UInt64? {
    LocalTime.begin(ofDay: text, addingDays: days)
  }
}
