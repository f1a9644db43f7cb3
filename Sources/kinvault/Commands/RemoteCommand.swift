import ArgumentParser

struct RemoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Add, list, test and remove the places that the vault is synced with.",
    discussion: """
      A remote is another copy of the vault's folder: on a disk, in an S3 bucket, on a WebDAV server, or anywhere \
      that rclone reaches. Whoever keeps it sees ciphertext only. Remotes belong to this machine; they are not part of \
      the vault.
      """,
    subcommands: [
      RemoteAddCommand.self, RemoteListCommand.self, RemoteTestCommand.self,
      RemoteDoorbellCommand.self, RemoteRemoveCommand.self,
    ])
}
