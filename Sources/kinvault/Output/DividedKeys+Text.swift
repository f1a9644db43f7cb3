import Vault

extension DividedKeys {
  /// What happened to this person's keys, and how it is settled.
  var text: String {
    switch self {
    case .closings:
      return
        "Your keys were changed on two machines that had not met. What both removed is removed, and nobody gives you "
        + "keys until your 24 words join the two: kinvault recovery join"
    case .words(let made, let here):
      let times = made.map { DateText.local(milliseconds: $0) }.joined(separator: ", ")
      let stand =
        here.map {
          "This machine goes by those of \(DateText.local(milliseconds: $0)); whoever saw others first goes by those, and "
            + "whoever has seen none of them gives you no keys."
        } ?? "Nothing on this machine says which of them count, and nobody gives you keys."
      return
        "Your 24 words were replaced more than once, on machines that had not met: \(times). \(stand) With the words of "
        + "both it is settled: kinvault recovery join. If you replaced them only once, somebody has found the old ones: "
        + "nothing of theirs counts where yours were seen first, and they cannot join theirs to yours."
    }
  }
}
