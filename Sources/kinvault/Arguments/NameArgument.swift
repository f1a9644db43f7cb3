import ArgumentParser
import Vault

/// What a person or a device is called: 1 to 255 bytes, on one line.
struct NameArgument: ExpressibleByArgument {
  let text: String

  init?(argument: String) {
    guard DeviceName.isGood(argument) else { return nil }
    text = argument
  }
}
