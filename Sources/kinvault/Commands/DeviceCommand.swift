import ArgumentParser
import Vault
import VaultModel

struct DeviceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "device",
    abstract: "List, add, name and remove your devices.",
    discussion: """
      Each machine that opens the vault is a device with keys of its own. What it writes is signed by it, so \
      the history and conflicts can say which one wrote what.
      """,
    subcommands: [
      DeviceListCommand.self, DeviceAddCommand.self, DeviceJoinCommand.self,
      DeviceRenameCommand.self, DeviceRevokeCommand.self,
    ])
}

struct DeviceListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the devices that may open the vault.",
    discussion: """
      Example:
        kinvault device list --json
      """)

  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var access: AccessOptions

  private struct Row: Encodable {
    var id: String
    var name: String?
    var kind: String?
    var firstSeen: String?
    var lastWrite: String?
    var isThisDevice: Bool
    var isYours: Bool
  }

  func run() throws {
    let (devices, person) = try access.withVault(.reading) { (try $0.devices(), $0.person) }
    if json {
      try JSONOutput.print(
        devices.map { device in
          Row(
            id: device.id.hex, name: device.profile?.deviceName, kind: device.profile?.deviceKind,
            firstSeen: device.profile.map { DateText.utc(milliseconds: $0.created) },
            lastWrite: device.lastWrite.map(DateText.utc(milliseconds:)),
            isThisDevice: device.isThisOne, isYours: device.person == person)
        })
      return
    }
    var table = Table("NAME", "KIND", "FIRST SEEN", "LAST WRITE", "ID")
    for device in devices {
      let name =
        device.profile?.deviceName
        ?? (device.person == person ? "(yours, not heard of yet)" : "(someone else's)")
      table.add([
        device.isThisOne ? "\(name) (this one)" : name, device.profile?.deviceKind ?? "",
        device.profile.map { DateText.local(milliseconds: $0.created) } ?? "",
        device.lastWrite.map(DateText.local(milliseconds:)) ?? "never", device.id.shortHex,
      ])
    }
    table.print(orElse: "No devices.")
  }
}

struct DeviceRenameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Give this device another name.",
    discussion: """
      A device names itself, so this is run on the device that is to be renamed.

      Example:
        kinvault device rename "Kitchen laptop"
      """)

  @Argument(help: "The new name.") var name: String
  @OptionGroup var access: AccessOptions

  func run() throws {
    let name = name
    guard DeviceName.isGood(name) else {
      throw CommandError.usage("A device's name has 1 to 255 bytes, on one line.")
    }
    try access.withVault(.writing) { vault in
      try vault.renameDevice(to: name)
      vault.audit.note(.write, detail: "device rename")
      Terminal.writeLine("This device is now called \(Terminal.visible(name)).")
    }
  }
}
