import ArgumentParser

/// What is asked of somebody who becomes a person of a vault: a name, a machine and 24 words.
struct NewPersonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What you call yourself. Default: the name of this account.", valueName: "name"))
  var name: NameArgument?

  @OptionGroup var deviceOptions: NewDeviceOptions
  @OptionGroup var wordsOptions: NewWordsOptions
}
