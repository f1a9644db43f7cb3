import Glibc
import SystemPackage

/// Why mounting or unmounting did not work.
package enum MountError: Error, Hashable, Sendable {
  /// Something that is not a directory is where the mount should be.
  case notADirectory(FilePath)
  /// The directory holds files, which the mount would hide.
  case notEmpty(FilePath)
  /// The mountpoint lies in the vault folder, or the vault folder in the mountpoint.
  case overlapsVault(mountpoint: FilePath, vault: FilePath)
  /// A live mount is there already.
  case alreadyMounted(FilePath)
  /// A live mount that may be written shows the vault at another place.
  case mountedElsewhere(FilePath, wanted: FilePath)
  /// A live mount that may be written shows the vault where this process does not see it.
  case mountedUnseen(FilePath, process: Int32)
  /// A mount that may be written is shown no more, and its process still serves it.
  case notEnded(FilePath, process: Int32)
  /// The kernel or `fusermount3` did not mount; the reason is theirs.
  case refused(FilePath, reason: String)
  /// An ordinary user asked to let others in, and `/etc/fuse.conf` does not allow that.
  case othersNotAllowed
  /// This user may not open `/dev/fuse`.
  case noDevice(errno: Int32)
  /// No Kinvault mount is there.
  case notMounted(FilePath)
  /// Programs use the mount; those that could be found.
  case busy(FilePath, programs: [String])
  /// `fusermount3` did not take the mount away; the reason is its own, and may be empty.
  case notUnmounted(FilePath, reason: String)
  /// Something that was changed in the mount could not be saved, so it was not taken away.
  case notSaved(FilePath, errno: Int32)
  /// The mount is gone, and something that was changed last could not be saved.
  case lostAtEnd(FilePath, errno: Int32)
  /// The serving process did not end in time.
  case stillServing(FilePath, process: Int32)
  /// What the background process reported before it was ready.
  case backgroundFailed(message: String)
  /// The background process ended without a word; the status of wait(2).
  case backgroundDied(status: Int32)
  /// A system call failed.
  case system(call: String, path: FilePath, errno: Int32)

  /// What happened, to what, and what to do next.
  package var message: String {
    switch self {
    case .notADirectory(let path):
      "\(path) is not a directory. Choose an empty directory, or a path that does not exist yet."
    case .notEmpty(let path):
      "\(path) is not empty, and a mount would hide what is in it. Choose an empty directory, "
        + "or a path that does not exist yet."
    case .overlapsVault(let mountpoint, let vault):
      "The mountpoint \(mountpoint) and the vault folder \(vault) must not lie inside one another."
    case .alreadyMounted(let path):
      "A vault is mounted at \(path) already. Unmount it first: kinvault unmount \(path)"
    case .mountedElsewhere(let path, let wanted):
      "The vault is mounted at \(path) already, and with two mounts that can be written to, one would replace what was saved "
        + "in the other. To reach it under another name, one that nothing has yet: ln -sT \(path) NAME. To only look at it "
        + "at \(wanted): kinvault mount --read-only \(wanted). To move it there: kinvault unmount \(path), then mount again."
    case .mountedUnseen(let path, let process):
      "The vault is mounted already, at \(path) as process \(process) sees it: in a container, a sandbox or a service with "
        + "mounts of its own. Unmount it there, or end that process: kill \(process). To only look at the vault meanwhile: "
        + "kinvault mount --read-only MOUNTPOINT"
    case .notEnded(let path, let process):
      "The mount at \(path) was taken away, but process \(process) still serves it: it saves what was changed, or programs have "
        + "files of it open. Close them and try again. To only look at the vault meanwhile: kinvault mount --read-only MOUNTPOINT"
    case .refused(let path, let reason):
      "Mounting at \(path) did not work: \(reason)"
    case .othersNotAllowed:
      "On this machine only root may let other users into a mount (--allow-other). To allow it to "
        + "everybody, root puts the line \u{2018}user_allow_other\u{2019} into \(FuseConfiguration.path)."
    case .noDevice(let errno):
      "You may not use /dev/fuse (\(String(cString: strerror(errno)))), so nothing can be mounted. Debian "
        + "gives it mode 666; as root: modprobe fuse; chmod 666 /dev/fuse"
    case .notMounted(let path):
      "No vault is mounted at \(path)."
    case .busy(let path, let programs):
      programs.isEmpty
        ? "\(path) is in use. Close the programs that use it and try again."
        : "\(path) is in use by \(programs.joined(separator: ", ")). Close them and try again."
    case .notUnmounted(let path, let reason):
      "\(path) is still mounted. What fusermount3 says: \(reason.isEmpty ? "nothing" : reason)"
    case .notSaved(let path, let errno):
      "What was changed in \(path) could not be saved (\(Self.cause(errno))), so it is still mounted. See what it is: "
        + "kinvault status. To unmount all the same, and lose that: kinvault unmount --lazy \(path)"
    case .lostAtEnd(let path, let errno):
      "\(path) is unmounted, but what was changed in the last moment could not be saved "
        + "(\(Self.cause(errno))). Look at the files that you changed last."
    case .stillServing(let path, let process):
      "\(path) is unmounted, but process \(process) is still writing what was changed."
    case .backgroundFailed(let message):
      message
    case .backgroundDied(let status):
      "The background process ended before the mount was up (status \(status))."
    case .system("realpath", let path, ENOENT):
      "\(path) does not exist. A mountpoint is made where it is missing, but not the folder around it: mkdir -p \(path)"
    case .system(let call, let path, let errno):
      "\(call) \(path): \(String(cString: strerror(errno)))"
    }
  }

  /// What an error number says to a person, and what helps.
  private static func cause(_ errno: Int32) -> String {
    errno == ENOSPC ? "the disk is full: make room on it first" : String(cString: strerror(errno))
  }
}
