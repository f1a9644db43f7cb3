import ArgumentParser
import Glibc
import VaultCrypto

@main
struct Kinvault: ParsableCommand {
  /// The version of the program; the format has its own.
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "kinvault",
    abstract: "Keeps a family's health records in a folder of encrypted files.",
    discussion: """
      A vault is an ordinary folder. Mounted, it shows plain folders and files that any program \
      opens; unmounted, it is ciphertext that may be copied anywhere.

      First steps:
        kinvault init --vault ~/Family --name "Anna"
        kinvault member add Emma --vault ~/Family
        kinvault mount ~/family-records --vault ~/Family

      Which vault: --vault, else $KINVAULT_VAULT, else the current folder or the nearest one above it \
      that is a vault. Passwords are asked for, or come from --password-file, $KINVAULT_PASSWORD_FILE \
      or the output of $KINVAULT_PASSWORD_COMMAND.

      Exit statuses:
      \(ExitStatus.table)
      """,
    version: version,
    groupedSubcommands: [
      CommandGroup(
        name: "To begin with",
        subcommands: [
          InitCommand.self, MemberCommand.self, OpenCommand.self, MountCommand.self,
          UnmountCommand.self, StatusCommand.self,
        ]),
      CommandGroup(
        name: "Unlock",
        subcommands: [
          UnlockCommand.self, LockCommand.self, PasswordCommand.self, RecoverCommand.self,
          RecoveryCommand.self,
        ]),
      CommandGroup(
        name: "Records",
        subcommands: [
          SearchCommand.self, RecordCommand.self, AttachCommand.self, ExportCommand.self,
          HistoryCommand.self,
          RestoreCommand.self,
        ]),
      CommandGroup(
        name: "Several devices",
        subcommands: [
          RemoteCommand.self, CloneCommand.self, SyncCommand.self, FetchCommand.self,
          EvictCommand.self, ConflictsCommand.self, DeviceCommand.self,
        ]),
      CommandGroup(
        name: "Several people",
        subcommands: [
          InviteCommand.self, JoinCommand.self, PeopleCommand.self, VerifyCommand.self,
          ShareCommand.self, UnshareCommand.self, AcceptCommand.self, AccessCommand.self,
          HandOverCommand.self,
          LeaveCommand.self,
        ]),
      CommandGroup(
        name: "Care",
        subcommands: [
          CheckCommand.self, CollectCommand.self, AuditCommand.self, LeaksCommand.self,
          DerivedCommand.self, VersionCommand.self,
        ]),
    ])

  static func main() {
    ProcessHardening.apply()
    // A reader that goes away is an error of write(2), not the end of a process with work half done.
    signal(SIGPIPE, SIG_IGN)
    // Whoever started us may have had this ignored: then nobody would learn how the programs end that we start.
    signal(SIGCHLD, SIG_DFL)
    do {
      if let unknown = UnknownCommand(in: CommandLine.arguments.dropFirst()) {
        throw CommandError.usage(unknown.message)
      }
      var command = try parseAsRoot()
      try command.run()
    } catch {
      FailureReport(error).end()
    }
    endProcess(0)
  }
}
