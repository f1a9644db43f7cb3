import ArgumentParser

struct RecordCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Add, list, show and edit records.",
    discussion: """
      A record is a folder of the mounted view: a note (record.md) with fields at its top, and the files \
      attached to it. Everything here can be done in the mounted folder with any program as well.
      """,
    subcommands: [
      RecordAddCommand.self, RecordListCommand.self, RecordShowCommand.self,
      RecordEditCommand.self,
    ])
}
