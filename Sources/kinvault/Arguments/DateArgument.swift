import ArgumentParser
import Notes
import Vault

/// A date as records have it: `2025-01-20`, or as much of it as is known: `2025-01`, `2025`.
struct DateArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard RecordDate.isWritten(argument) else { return nil }
    text = argument
  }

  /// When the day begins that comes so many days after this one, in this machine's time; milliseconds since 1970, and nil
  /// where no day is named.
  func begin(addingDays days: Int = 0) -> UInt64? {
    LocalTime.begin(ofDay: text, addingDays: days)
  }
}
