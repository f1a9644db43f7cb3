import ArgumentParser

/// A length of time as people type it: `90s`, `10m`, `2h`, `1d`; a bare number is minutes.
struct TimeArgument: ExpressibleByArgument {
  let seconds: Int

  init(seconds: Int) { self.seconds = seconds }

  init?(argument: String) {
    let digits = argument.prefix(while: \.isNumber)
    let factors = ["s": 1, "": 60, "m": 60, "min": 60, "h": 3600, "d": 86_400]
    guard let number = Int(digits), number > 0, number <= 1_000_000,
      let factor = factors[String(argument.dropFirst(digits.count))]
    else { return nil }
    seconds = number * factor
  }

  var duration: Duration { .seconds(seconds) }

  var defaultValueDescription: String { seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s" }
}
