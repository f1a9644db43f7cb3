import Log

extension KeptFailure {
  /// What fails, how long, and what to do, for a person.
  var text: String {
    let since = DateText.local(milliseconds: first)
    let often =
      count == 1
      ? "at \(since)"
      : "\(counted(Int(clamping: count), "time")) since \(since), last at \(DateText.local(milliseconds: last))"
    return "\(what) failed \(often): \(cause). \(advice)"
  }

  /// What was to be done.
  var what: String {
    switch work {
    case .commit: "Saving changes in the vault"
    case .seal: "Encrypting what is written"
    case .refresh: "Looking for what other devices wrote"
    case .reading: "Reading what other devices wrote"
    case .join: "Joining what was written in two places"
    case .redoLog: "Writing down what programs have synced, before it is committed,"
    case .redo: "Bringing in what was saved last before a crash"
    case .thinning: "Thinning versions"
    case .oldObjects: "Removing what is encrypted with old keys"
    case .audit: "Writing the audit log"
    case .sync: "Syncing"
    case .doorbell: "Listening to the doorbell"
    case .epoch: "Taking access away, or giving it"
    case .invalidation: "Showing programs what has changed"
    case .serving: "Serving the mount"
    case .registration: "Noting that there is a mount"
    case .watching: "Noticing changes as they come"
    case .traces: "Removing what other programs keep of the mount"
    case .ending: "Saving the last changes when the mount ended"
    case .page: "What was begun on the page"
    }
  }

  /// Why, in words where there are some.
  var cause: String {
    switch kind {
    case "noSpace": "there is no room on the disk"
    case "readOnly": "the disk, or the vault, may only be read"
    case "viewersOnlyRead", "noAccess", "accessEnded":
      "your access to the member has ended, or you may only read it now"
    case "permission": "this user may not do it"
    case "damaged", "authenticationFailed", "inputOutput": "something that is needed is damaged"
    case "missing": "something that is needed is not there"
    case "away", "unreachable", "timedOut": "a remote that is needed cannot be reached"
    case "gone": "something that is needed is on no remote any more"
    case "thisDeviceRemoved": "this device was removed"
    case "rolledBack": "the vault's folder is older than it was"
    case "noDeviceHere": "what this machine keeps of the vault is gone"
    case "notAVault", "otherVault": "the vault's folder is not where it was"
    case "forked", "branched": "a copy of this machine has written to the vault, too"
    case "keysDivided": "somebody's keys were changed in two places"
    case "keysAwaited": "what changed somebody's keys has not come yet"
    case "epochSpent": "an owner has to give the member new keys first"
    case "notABlob": "something that is needed is no ordinary file"
    case "throttled", "denied": "a remote that is needed refuses"
    default:
      number.map { "\(kind) (\(CommandError.describe($0)))" } ?? kind
    }
  }

  /// What to do next.
  var advice: String {
    if work == .ending { return "Look at the files that you changed last." }
    if work == .traces { return "To see what is kept: kinvault leaks" }
    switch kind {
    case "noSpace":
      return "Make some: move or delete other files on that disk. It is tried again by itself."
    case "readOnly", "permission":
      return "Look at who may write the vault's folder and this machine's state. "
        + "It is tried again by itself."
    case "viewersOnlyRead", "noAccess", "accessEnded":
      return work == .redo
        ? "It is kept on this machine until an owner lets you write again. To see what it is: kinvault check"
        : "Copy what is not saved out of the mount; an owner can let you write again."
    case "damaged", "authenticationFailed", "inputOutput", "missing":
      return "To see what is wrong: kinvault check"
    case "away", "unreachable", "timedOut":
      return "It is tried again by itself. To see the remotes: kinvault remote list"
    case "gone": return "A machine that still has it puts it there again: kinvault sync --full"
    case "thisDeviceRemoved": return "Unmount, and ask who removed it."
    case "rolledBack":
      return "If that was a mistake, put the newer folder back; it is tried again by itself. If an "
        + "older copy was put there on purpose, copy what is not saved out of the mount, take it "
        + "away with kinvault unmount --lazy MOUNTPOINT, and go on from the older folder with "
        + "kinvault mount --accept-rollback MOUNTPOINT"
    case "noDeviceHere":
      return "Copy what is not saved out of the mount, then unmount. The 24 words make this "
        + "machine a device again: kinvault recover"
    default: return "It is tried again by itself. If it stays, unmount and mount again."
    }
  }
}
