import ArgumentParser

/// A number of bytes as people type it: `500K`, `2M`, `1G` (binary), or plain bytes.
struct ByteCountArgument: ExpressibleByArgument {
  let byteCount: Int

  init?(argument: String) {
    let digits = argument.prefix(while: \.isNumber)
    let factors = ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
    guard let number = Int(digits), number > 0, number <= 1 << 30,
      let factor = factors[argument.dropFirst(digits.count).uppercased()]
    else { return nil }
    byteCount = number * factor
  }
}
