import VaultModel

/// What a sync found that nobody does who keeps to the format, in words.
enum TamperingText {
  /// Of a kind as the log and this machine's state have it; one that this version does not know stays as it is.
  static func text(ofKind kind: String) -> String {
    switch kind {
    case "wentBack": "went back to an earlier state"
    case "rollback": "is older than what this machine has seen"
    case "fork": "was written twice under one number, or goes on from what was"
    case "damagedThere": "is damaged there"
    case "untrusted": "is signed by nobody who may"
    case "differs": "is another file there than here"
    case "withheld": "is kept back"
    default: kind
    }
  }

  /// Of an event of the log: what it says is the kind, a blank, and the path.
  static func text(ofDetail detail: String, _ paths: NamedPath) -> String {
    let parts = detail.split(separator: " ", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { return text(ofKind: detail) }
    return "\(paths.text(parts[1])) \(text(ofKind: parts[0]))"
  }
}
