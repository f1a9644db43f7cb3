import ArgumentParser
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

struct DeviceRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Remove a device of yours that was lost, stolen or sold.",
    discussion: """
      Asks for your 24 words. You get new keys, which only your other devices can open, and every member that you own \
      is encrypted anew; your other devices go on without typing anything. Members that others own are encrypted \
      anew by their owners' devices when those sync. What the lost device has copied until now cannot be recalled. To \
      remove the device that you are sitting at, use another one.

      Before it asks, it shows which devices stay, since when and who approved them, and what the lost one did.

      What the device has signed goes on to count. If somebody else may have had it for some days, --since says since \
      when: what it signed from then on is on no list of what is yours, and what it changed of people's access \
      since then falls. You are told what that is before anything is changed. The notes stay as they are: look at them \
      with \u{2018}kinvault history\u{2019}, which says that they are not certain, and take back what is wrong with \
      \u{2018}kinvault restore\u{2019}. Whoever has the device could have dated back what they signed.

      A device in wrong hands can give an owner's place up once more, to somebody else. Where one was given up twice, and what \
      the device signed may hang on it, say first which time is true (kinvault member settle): what it signed for the other one \
      ends with it, for everybody. With --unsettled it is removed at once, and that stays open.

      A device in wrong hands can let others in. Where these are more than there is room for, they go with it; and if a \
      second device was stolen, name both.

      Examples:
        kinvault device revoke "Old phone"
        kinvault device revoke 3fa8c21b --words-file W --yes
        kinvault device revoke "Old phone" tablet
        kinvault device revoke "Old phone" --since 2026-11-20
      """)

  @Argument(
    help: ArgumentHelp(
      "The devices: the name of each, or the first digits of its id.", valueName: "device"))
  var devices: [String]

  @Option(
    help: ArgumentHelp(
      "Go without what it signed on that day and since, in this machine's time.",
      valueName: "date"))
  var since: DateArgument?

  @Flag(
    help:
      "Remove it though an owner's place was given up twice, and it is not said which time is true."
  )
  var unsettled = false

  @OptionGroup var wordsOptions: KnownWordsOptions

  @Flag(help: "Do not ask whether it is meant.") var yes = false

  @OptionGroup var access: AccessOptions

  func run() throws {
    let since = try beginning()
    try access.withVaultAndKey(.writing) { vault, key in
      let remotes = try access.remotes(of: vault, key: key)
      // What it has pushed until now stays; what nobody fetched before it was removed would not.
      KeyRenewal(vault: vault).meet(
        remotes,
        loss:
          "What that device alone has sent to a remote that could not be synced now is left out."
      )
      let lost = try find(in: vault)
      let names = lost.map { Terminal.visible(vault.name(of: $0.id)) }
      let name = names.joined(separator: " and ")
      let leaving = Leaving(Set(lost.map(\.id)), since: since)
      if !unsettled {
        try requireSettled(try vault.placesToSettle(before: leaving), of: name, in: vault)
      }
      try vault.closingPreview(removing: leaving.devices)
        .print(in: vault, departing: name, disownedSince: since)
      if let since {
        tell(try vault.disownedWork(of: leaving), of: name, since: since)
      }
      tellWhatIsNotListed(try vault.membersThatWaitForOwners(), of: name)
      let asked = zip(lost, names).map { device, name in
        "\(name), \(device.lastWrite.map { "written last \(DateText.local(milliseconds: $0))" } ?? "which has written nothing yet")"
      }
      try Confirmation.require("Remove \(asked.joined(separator: "; "))?", isGiven: yes)
      let words = try wordsOptions.words()
      Terminal.note("Making new keys; this takes a moment.")
      try SignInNotes.tryingWords(of: vault.id) { () throws(VaultError) in
        try vault.beginGeneration(leaving, words: words)
      }
      for device in lost {
        vault.audit.note(.share, detail: "device revoke \(vault.name(of: device.id))")
      }
      for name in names { Terminal.writeLine("\(name) has been removed.") }
      Terminal.note(
        "kinvault: What \(name) \(names.count == 1 ? "has" : "have") copied until now cannot be recalled: this is about what is "
          + "written from now on.")
      try KeyRenewal(vault: vault).run(remotes)
    }
  }

  private func beginning() throws -> UInt64? {
    guard let since else { return nil }
    guard let begin = since.begin() else {
      throw CommandError.usage("--since takes a whole date, such as 2026-11-20.")
    }
    guard since.text <= LocalTimeText.today() else {
      throw CommandError.usage(
        "--since takes a day that has begun: \(since.text) is still to come.")
    }
    return begin
  }

  /// Whoever says it first removes with the device what is not true, for everybody. Otherwise it stays open.
  private func requireSettled(
    _ places: [PlaceToSettle], of name: String, in vault: Vault
  ) throws {
    if places.isEmpty { return }
    let members = Set(places.map(\.member)).sorted { $0.hex < $1.hex }
    let shown = members.prefix(Self.shownMembers).map { id in
      let name = vault.member(id)?.name.string ?? String(id.hex.prefix(12))
      return "\n  kinvault member settle \(ShellWord.quoted(name))"
    }.joined()
    let more = members.count - Self.shownMembers
    throw CommandError.refused(
      "An owner's place was given up more than once, and only one of these times can be true: what \(name) signed may hang on it. To "
        + "see them, and to say first which one it is:\(shown)\(more > 0 ? "\n  and so of \(more) more" : "")\n"
        + "What \(name) signed for the others counts nowhere then. To remove it at once, and leave that open: --unsettled"
    )
  }

  private static let shownMembers = 5

  private func tellWhatIsNotListed(_ members: [Member], of name: String) {
    if members.isEmpty { return }
    let names = members.map { Terminal.visible($0.name.string) }.joined(separator: ", ")
    Terminal.note(
      "kinvault: Nothing can be written to \(names) before a device of an owner has synced. Removed now, what \(name) has "
        + "written there stays, and nothing proves any more that it was yours. If the device is not in wrong hands, let an "
        + "owner sync first.")
  }

  private func tell(_ work: DisownedWork, of name: String, since: UInt64) {
    Terminal.note(
      "Whom you know, under which name, and with whom you compared words \(name) could say for all of your devices, and that "
        + "stays. To look at it: kinvault people list")
    let time = DateText.local(milliseconds: since)
    let count = work.records.count
    var parts: [String] = []
    if count > 0 {
      parts.append("what it wrote of \(count == 1 ? "1 record" : "\(count) records")")
    }
    if work.linkCount > 0 {
      parts.append(
        "\(work.linkCount == 1 ? "1 change" : "\(work.linkCount) changes") of who has access to "
          + work.members.map { Terminal.visible($0.string) }.joined(separator: ", "))
    }
    guard !parts.isEmpty else {
      Terminal.note(
        "Nothing that \(name) signed since \(time) is known here: all of it goes on to count.")
      return
    }
    Terminal.note(
      "What \(name) signed since \(time) will not count as yours: "
        + "\(parts.joined(separator: ", and "))\(count > 0 ? ":" : ".")")
    for record in work.records.prefix(Self.shownRecords) {
      Terminal.note("  \(Terminal.visible(record))")
    }
    if count > Self.shownRecords { Terminal.note("  and \(count - Self.shownRecords) more") }
  }

  private static let shownRecords = 20

  private func find(in vault: Vault) throws -> [KnownDevice] {
    let known = try vault.devices().filter { $0.person == vault.person }
    var found: [KnownDevice] = []
    for text in devices {
      let device = try find(text, among: known)
      if !found.contains(where: { $0.id == device.id }) { found.append(device) }
    }
    return found
  }

  private func find(_ text: String, among devices: [KnownDevice]) throws -> KnownDevice {
    guard
      let found = try NameOrDigits(text).one(
        among: devices, name: { $0.profile?.deviceName ?? "" }, id: { $0.id.hex })
    else {
      throw CommandError.notFound(
        "You have no device \u{201C}\(Terminal.visible(text))\u{201D}. To see yours: kinvault device list"
      )
    }
    guard !found.isThisOne else {
      throw CommandError.refused(
        "That is the device that you are sitting at. Remove it from another one, or, if this is the last, make "
          + "another with the 24 words first: kinvault recover")
    }
    return found
  }
}
