import ArgumentParser
import RemoteStores

/// The address of a server that speaks ntfy's protocol.
struct DoorbellArgument: ExpressibleByArgument {
  let address: Doorbell.Address

  init?(argument: String) {
    guard let address = Doorbell.Address(argument) else { return nil }
    self.address = address
  }
}
