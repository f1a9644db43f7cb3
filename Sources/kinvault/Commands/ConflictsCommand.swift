import ArgumentParser

struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts",
    abstract: "See what lost when two devices changed one record, and decide.",
    discussion: """
      Devices that write without having met may change the same file. The later change counts; the other is \
      never lost: it stands in the member's folder \u{201C}Offline Sync Conflicts\u{201D}, in the mount as well as here.
      """,
    subcommands: [
      ConflictsListCommand.self, ConflictsShowCommand.self, ConflictsResolveCommand.self,
    ])
}
