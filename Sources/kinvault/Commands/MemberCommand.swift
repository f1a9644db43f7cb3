import ArgumentParser

struct MemberCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "member",
    abstract:
      "Add, list and rename family members, say what is noted of who opens files, make one anew without an owner who "
      + "is lost, bring one back that was made on a removed device, and settle which of two ends of an owner's place is the "
      + "true one.",
    discussion: """
      A member is someone whose records are kept: a child, a parent, yourself. Each has keys of their own \
      and shows as a folder in the mounted view; a folder that is made there, at the top, is a new member. A member cannot \
      be removed; one that was made by mistake, and is empty, is there for whoever is next (kinvault member rename, or mv \
      in the mount).
      """,
    subcommands: [
      MemberAddCommand.self, MemberListCommand.self, MemberRenameCommand.self,
      MemberRenewCommand.self, MemberKeepCommand.self, MemberSettleCommand.self,
      MemberJournalCommand.self,
    ])
}
