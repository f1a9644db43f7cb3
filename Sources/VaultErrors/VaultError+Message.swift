import Glibc
import VaultCrypto
import VaultModel

extension VaultError {
  /// What happened, to what, and what to do next, for a person.
  package var message: String {
    switch self {
    case .notAVault(let folder):
      "\(folder) is not a Kinvault vault: it has no readable vault.json."
    case .otherVault(let folder): "The vault in \(folder) is not the one of the invitation."
    case .badInvitation: "That is not a whole invitation."
    case .folderNotEmpty(let folder):
      """
      \(folder) is not empty. A new vault needs a folder of its own. \
      If “kinvault init” was interrupted here, empty the folder first.
      """
    case .unsupported(let what, let found, let supported):
      "This is \(what) \(found), and this program knows \(supported)."
    case .noDeviceHere(let vault):
      """
      This machine has no key for the vault \(vault.shortHex). \
      Use “kinvault recover” with the 24 words to add it.
      """
    case .thisDeviceRemoved: "This device has been removed from the vault."
    case .signedByRemovedDevice(let path): "\(path) is of a device that has been removed."
    case .replacedWords: "Those 24 words have been replaced by newer ones."
    case .otherWords:
      """
      Those are not the words that can be joined: it takes those of two replacements, and one of the two must be what this \
      machine goes by.
      """
    case .wrongPassword: "That password does not open the vault on this machine."
    case .passwordIsNotEnough: "A password alone does not open the vault on this machine."
    case .lastSlot: "It is the only way to unlock the vault on this machine."
    case .wrongWords: "Those 24 words belong to nobody in this vault."
    case .damagedSlot(let path, let reason):
      """
      \(path), which this machine unlocks the vault with, is damaged: \(reason). The password may well be right. \
      “kinvault recover” makes a new one from the 24 words.
      """
    case .damaged(let path, let reason):
      "\(path) is damaged: \(reason). “kinvault check” shows what it belongs to."
    case .missing(let path):
      "\(path) is missing. “kinvault check” shows what it belongs to; a backup may still have it."
    case .away(let path, let reason):
      """
      \(path) is kept on a remote, and cannot be had from there now: \(reason). It can be read once the remote is \
      reachable; “kinvault fetch” keeps things here for such times.
      """
    case .gone(let path, let record):
      """
      \(path)\(record.map { ", which the record \($0.shortHex) needs," } ?? "") was left on the remotes, and none of them has \
      it any more: another machine has collected it, or the remotes have lost it. A machine that still has it puts it there \
      again with “kinvault sync --full”. If none has, replace or remove the file that needs it.
      """
    case .rolledBack(let path, let found, let seen):
      """
      The vault folder is older than what this machine has seen: \(path) is at \(found), \
      and \(seen) was seen before. If you put back a backup on purpose, confirm it and go on; \
      if not, someone may be hiding what was written since.
      """
    case .forked(let path, let counter):
      """
      \(path) has the number \(counter), but a different file with that number was seen before: \
      two copies of this device’s state have written the vault.
      """
    case .branched(let path, _):
      """
      \(path) was written by a machine that was put back to an earlier state, or by a copy of one: it does not go on \
      from what is known here. Nothing of either is lost; sync that machine, which then goes on as a device of its own.
      """
    case .keysDivided(let person):
      """
      The keys of the person \(person.shortHex) were changed on two machines that had not met, by removing a device or \
      by replacing the 24 words. Nobody can give them keys until their 24 words join the two: kinvault recovery join
      """
    case .keysAwaited(let person):
      """
      The person \(person.shortHex) has changed keys, and what says so has not come to this machine yet. Until it has, nothing \
      is given to them here: a machine that they removed could read it. Sync with a remote that has it: kinvault sync
      """
    case .epochSpent(let member):
      """
      Two owners of the member \(member.shortHex) have each let somebody out without knowing of the other. What is written \
      now, those could read; so nothing is, until an owner's next sync or edit has given it new keys.
      """
    case .noSpace(let path):
      """
      There is no space left on the disk for \(path). What was saved before is safe, and can be read. \
      Move or delete other files on that disk.
      """
    case .noRoomForNewKeys(let member, let byteCount):
      """
      Encrypting the member \(member.shortHex) anew needs \(byteCount / (1 << 20) + 1) MiB on this machine for a while, \
      since what was left on the remotes has to come here for it, and the disk has less room. Nothing was begun. Make room, or \
      do it on an owner's machine that has everything here.
      """
    case .readOnly:
      """
      The vault is open for reading only, or its folder cannot be written. A disk whose file system is damaged becomes \
      read-only by itself: unmount it, have it repaired (a stick: fsck.vfat -a DEVICE), and try again.
      """
    case .permission(let path): "\(path) may not be read or written by this user."
    case .noAccess(let member): "You have no key for the member \(member.shortHex)."
    case .viewersOnlyRead(let member):
      "You are a viewer of the member \(member.shortHex): you can read it, and not change it."
    case .ownersOnly(let member): "Only an owner of the member \(member.shortHex) may do that."
    case .lastOwner(let member): "The member \(member.shortHex) would be left without an owner."
    case .notNeeded: "Everyone whom that would leave out can be taken out: kinvault unshare"
    case .moreSenior(let person, let member):
      """
      The person \(person.shortHex) has been an owner of the member \(member.shortHex) for longer than you, so you cannot \
      take their access away. They can give it up themselves: kinvault leave, or kinvault hand-over.
      """
    case .accessEnded(let member): "Your access to the member \(member.shortHex) has ended."
    case .notFound(let what): "There is no \(what)."
    case .changedMeanwhile: "The record was changed by somebody else meanwhile; nothing was saved."
    case .alreadyExists(let what): "“\(what)” exists already."
    case .limit(let what, let found, let limit):
      "\(what) would be \(found); at most \(limit) is possible."
    case .io(let path, EIO):
      "\(path): The disk cannot be read there, or its file system is damaged. Unmount that disk, have it repaired (a "
        + "stick: fsck.vfat -a DEVICE), and try again."
    case .io(let path, let errno): "\(path): \(String(cString: strerror(errno)))."
    case .crypto(let error): "A cryptographic operation failed: \(error)."
    }
  }
}
