import ArgumentParser

/// What proves to a remote that it is this person.
struct LoginOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "User name at the remote, or the id of an S3 access key.", valueName: "name"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "Take the secret that goes with --user from this file (\u{2018}-\u{2019}: standard input).",
      valueName: "file"),
    completion: .file())
  var secretFile: String?

  var place: RemotePlace { RemotePlace(user: user, secretFile: secretFile) }
}
