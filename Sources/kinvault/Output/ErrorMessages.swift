import Glibc
import SystemPackage
import Tokens
import Vault
import VaultCrypto
import VaultErrors
import VaultModel
import VaultPlain

// What errors say to people: what happened, to what, and what to do next.

extension VaultError {
  var message: String {
    switch self {
    case .notAVault(let folder) where Self.holdsMembers(folder):
      "\(folder) has lost its vault.json. \(Self.wayToDescription)"
    case .notAVault(let folder):
      "\(folder) is not a vault: it has no vault.json. Name the vault's folder with --vault. If it was here, see whether its "
        + "disk is there; a remote gives it back: kinvault clone ADDRESS FOLDER. A new one is made by: kinvault init --vault "
        + "FOLDER"
    case .otherVault(let folder):
      "The vault in \(folder) is not the one that you are invited to. Name its copy, or an empty folder, with "
        + "--vault."
    case .badInvitation:
      "That is not a whole invitation. Copy all of it, from KIN- to the end; it is good once, for two weeks."
    case .folderNotEmpty(let folder):
      "\(folder) is not empty. A new vault needs a folder of its own: choose an empty one, or one "
        + "that does not exist yet."
    case .unsupported(let what, let found, let supported):
      "This is \(what) \(found), and this program knows \(supported). "
        + (Self.isOlder(found, than: supported)
          ? "Nothing that was released has written it: take out what is in it with the program that did "
            + "(kinvault export), and begin a new vault (kinvault init)."
          : "A newer version of Kinvault can open it.")
    case .noDeviceHere:
      "This machine does not know this vault yet. With the 24 words it gets a password of its own: "
        + "kinvault recover"
    case .thisDeviceRemoved(let time):
      "This device has been removed from the vault (\(DateText.local(milliseconds: time))). What is in its folder can not "
        + "be opened here any more. If it is yours again, the 24 words make it a new device: kinvault recover"
    case .signedByRemovedDevice(let path):
      "\(path) was written by a device that has been removed, and counts no more."
    case .replacedWords(let time):
      "These 24 words were replaced by newer ones (\(DateText.local(milliseconds: time))). Use the newer ones."
    case .otherWords:
      "These are not the two that can be joined. It takes the 24 words of both replacements, two papers, and this machine "
        + "has to go by one of them. When they were made: kinvault status"
    case .wrongPassword:
      "That is not the password of this vault on this machine. If it is lost, the 24 words set a "
        + "new one: kinvault recover"
    case .passwordIsNotEnough:
      "A password alone does not open this vault here. What does: kinvault unlock list"
    case .lastSlot:
      "It is the only way to unlock the vault on this machine. Add another one first: kinvault unlock add"
    case .wrongWords:
      "These 24 words are well-formed, but they do not open this vault."
    case .damagedSlot(let path, let reason):
      "The file that this machine is unlocked with is damaged (\(path): \(reason)). No password can open it; "
        + "the records are not affected. The 24 words set a new password: kinvault recover"
    // A file of this machine's state; in the vault's folder they are named from there.
    case .damaged(let path, let reason) where path.hasPrefix("/"):
      "\(path), which this machine keeps for itself, is damaged: \(reason)."
    case .damaged(let path, let reason) where path == "vault.json":
      "\(path) in the vault folder is damaged: \(reason). \(Self.wayToDescription)"
    case .damaged(let path, let reason):
      "\(path) in the vault folder is damaged: \(reason). See what is affected: kinvault check"
    // What was opened by its whole path had just been found, or made.
    case .missing(let path) where path.hasPrefix("/"):
      "\(path) is gone: it was moved or removed, or its disk taken away, while this program used it. When everything is "
        + "where it was, try again."
    case .missing(let path):
      "\(path) is missing from the vault folder. See what is affected: kinvault check"
    case .away(_, let reason):
      "A part of it is kept on a remote and cannot be had from there now: \(reason). It can be read once the "
        + "remote is reachable. To keep things on this machine: kinvault fetch"
    case .gone(let path, let record):
      Self.gone(path, record)
    case .rolledBack(let path, let found, let seen):
      "The vault's folder is older than this machine remembers it: \(Self.writer(of: path)) is at state \(found), and "
        + "was at \(seen). If an older backup was put back on purpose, go on from it: kinvault sync --accept-rollback; what "
        + "was written since comes back from a remote that has it. If not, find the newer folder first."
    case .forked(let path, let counter):
      "Two copies of this device have written to the vault (\(path), state \(counter)). Use one of "
        + "them only, and run: kinvault check"
    case .branched(let path, _):
      "\(path) was written by a machine that was put back to an earlier state, or by a copy of one, and does not go "
        + "on from what is here. Nothing of either is lost. Sync on that machine: kinvault sync"
    case .keysDivided(let person):
      "The keys of the person \(person.hex.prefix(8)) were changed on two machines that had not met, by removing a device "
        + "or replacing the 24 words. What both removed is removed; but nobody can give them keys until their 24 words "
        + "join the two. Who it is: kinvault people list. If it is you: kinvault recovery join. If you did not do that, "
        + "somebody has your words, or had your old ones."
    case .keysAwaited(let person):
      "The person \(person.hex.prefix(8)) has changed keys, by removing a device or replacing the 24 words, and what says so "
        + "has not come to this machine yet. Until it has, nothing is given to them here: what they removed could read it. "
        + "Who it is: kinvault people list. Sync with a remote that they sync with, then do this again: kinvault sync"
    case .epochSpent:
      "Two owners of this member have each let somebody out without knowing of the other. Whatever is written now, those "
        + "could read, so nothing is; reading goes on. An owner's next sync or edit gives it new keys; then sync here: "
        + "kinvault sync"
    case .noSpace:
      "There is no space left on the disk of the vault. What was saved before is safe, and can be read. Move or delete other "
        + "files on that disk, and try again; once there is room, kinvault collect removes what the vault no longer needs."
    case .noRoomForNewKeys(_, let byteCount):
      "Encrypting this member anew needs \(ByteCount.text(byteCount)) on this machine for a while, since what was left on "
        + "the remotes has to come here for it, and the disk has less room. Nothing was begun. Make room, or do it on an "
        + "owner's machine that has everything."
    case .readOnly:
      "The vault's folder is read-only, so nothing can be changed in it. To look at it: "
        + "kinvault mount --read-only"
    case .permission(let path) where path.hasPrefix("/"): DeniedFolder.message(for: path)
    case .permission(let path):
      "Permission denied: \(path). The vault's folder and \(Environment.stateRoot), with all that is in them, must belong "
        + "to you; where they do, give yourself the rights that are missing: chmod -R u+rwX FOLDER"
    case .noAccess:
      "You have no key for this member's records."
    case .viewersOnlyRead:
      "You are a viewer of this member: you can read the records, and not change them. An owner can make "
        + "you an editor."
    case .ownersOnly:
      "Only an owner of this member may do that. Who is one: kinvault access list"
    case .lastOwner:
      "A member has to have an owner, and you cannot take your own access away: share it with another owner, who "
        + "then can."
    case .notNeeded:
      "You were an owner before everyone whom you would leave out, so you can take their access away: kinvault unshare"
    case .moreSenior(let person, _):
      "The person \(person.shortHex) has been an owner of this member for longer than you, so you cannot take their access "
        + "away. They can give it up themselves: kinvault leave, or kinvault hand-over. Who is who: kinvault access list. If "
        + "they are lost for good: kinvault member renew"
    case .accessEnded:
      "Your access to this member was given until a date, which has passed. An owner can share it anew."
    case .notFound(let what):
      "Not found: \(what)."
    case .changedMeanwhile:
      "The record was changed by somebody else at the same moment, so nothing was saved. Look at it again, and try again."
    case .alreadyExists(let what):
      "There is one already: \(what)."
    case .limit(let what, let found, let limit):
      "Too much: \(what) is \(found), and at most \(limit) can be kept."
    case .io(let path, EIO):
      "\(path): The disk cannot be read or written there, or its file system is damaged. Unmount that disk, have it repaired "
        + "(a stick: fsck.vfat -a DEVICE), and try again."
    case .io(let path, let errno):
      "\(path): \(CommandError.describe(errno))."
    case .crypto(let error):
      error.message
    }
  }

  /// No command can do it, as none knows which vault it is.
  private static let wayToDescription =
    "Nothing else is lost by that: it is the same file in every copy of this vault. Copy it here from a remote, from "
    + "another machine or from a backup."

  /// Whether the folder was a vault, though it is none any more.
  private static func holdsMembers(_ folder: String) -> Bool {
    ["members", "people"].allSatisfy { access("\(folder)/\($0)", F_OK) == 0 }
  }

  /// The file that is older than it was, in words.
  static func writer(of path: String) -> String {
    guard case .head(let member, _)? = VaultPath(parsing: path) else { return path }
    return "what this device has written of the member \(member.shortHex)"
  }

  private static func gone(_ path: String, _ record: RecordID?) -> String {
    let id = record.map { String($0.hex.prefix(12)) }
    let owner = id.map { "of the record \($0)" } ?? "of it"
    let advice = id.map { " To see which record it is: kinvault record show \($0)" } ?? ""
    return
      "A part \(owner) was left on the remotes, and none of them has it any more (\(path)): another machine has "
      + "collected it, or they have lost it. A machine that still has it puts it there again: kinvault sync --full. If "
      + "none has, replace or remove the file.\(advice)"
  }

  /// Whether both are numbers, and what was found is the lesser one.
  private static func isOlder(_ found: String, than supported: String) -> Bool {
    guard let found = UInt64(found), let supported = UInt64(supported) else { return false }
    return found < supported
  }
}

extension CryptoError {
  var message: String {
    switch self {
    case .outOfMemory(let memoryKiB):
      "The password check needs \(memoryKiB / 1024) MiB of memory, which this machine does not have "
        + "free. Close other programs and try again."
    default: "Decryption failed: \(self)."
    }
  }
}

extension WordsError {
  var message: String {
    switch self {
    case .wrongCount(let found, let expected):
      "There are \(expected) words; these are \(found)."
    case .unknownWord(let position, let nearest):
      "Word \(position) is not one of the list. Perhaps it is \u{201C}\(nearest)\u{201D}?"
    case .badChecksum:
      "All these words exist, but they do not belong together: one of them is wrong, or two are "
        + "exchanged. Compare them with your paper once more."
    }
  }
}

extension TokenError {
  var message: String {
    switch self {
    case .noneHere(let reason): "It is not here (\(Terminal.visible(reason)))."
    case .wrongPIN: "That is not its PIN. After a few wrong ones it locks itself."
    case .lockedOut:
      "It has locked itself after wrong PINs. A TPM opens again after a while; how a token is unblocked, its maker says."
    case .needsPIN:
      "It asks for its PIN, which it had not when it was added. Add it anew: kinvault unlock add"
    case .hasNoPIN:
      "It has no PIN any more, and had one when it was added. Add it anew: kinvault unlock add"
    case .another:
      "It is not the one that was added, or it was reset since. What was added: kinvault unlock list"
    case .notConfirmed: "Nobody touched it in time."
    case .unsuitable(let reason): "It cannot be used for this (\(Terminal.visible(reason)))."
    case .notKept:
      "The keyring keeps nothing for it any more. Remove it, and add it anew: kinvault unlock remove"
    case .failed(let reason): "It failed: \(Terminal.visible(reason))."
    }
  }
}

extension SessionKeyringError {
  var message: String {
    switch self {
    case .unavailable:
      "This system has no kernel keyring for you, so the vault cannot stay unlocked between "
        + "commands: each one asks for the password."
    case .failed(let errno):
      "The kernel keyring refused: \(CommandError.describe(errno)). Commands ask for the password."
    case .foreignKey:
      "Something else stands in the kernel keyring under this vault's name. Remove it: kinvault lock"
    }
  }
}

extension PlainFileError {
  var message: String {
    switch self {
    case .system("stat", let path, ENOENT):
      "There is no file or folder \(path)."
    case .system("stat", let path, ENOTDIR):
      "There is no file or folder \(path): a part of that path is a file, and no folder."
    case .system(let call, let path, let errno):
      "\(path): \(call): \(CommandError.describe(errno))."
    case .notImportable(let path):
      "\(path) is a device or a socket. Only files, folders and links can be kept."
    case .changing(let path):
      "\(path) was written to each time that it was read, and was not taken in. Try again when nothing writes to it."
    case .alreadyExists(let path): "\(path) exists already. Nothing is ever overwritten."
    case .vault(let error): error.message
    }
  }
}
