import BlobStore
import Glibc
import SystemPackage

/// One line of `/proc/self/mountinfo`.
struct MountTableEntry: Hashable, Sendable {
  /// `MAJOR:MINOR` of the file system, the name of its entry in `/sys/class/bdi`.
  let device: String
  /// Where it is mounted, unescaped.
  let mountpoint: FilePath
  /// The type with its subtype, for example `fuse.kinvault`.
  let type: String
  /// What the mount says it comes from; for our mounts the vault folder.
  let source: FilePath
  var isReadOnly = false
}

/// The kernel's list of what is mounted where, as this process sees it.
package enum MountTable {
  /// The type under which every Kinvault mount is listed.
  package static let vaultType = "fuse.kinvault"

  /// Whether a Kinvault mount is the topmost mount at this path, which must be absolute and without links.
  package static func isVaultMount(_ path: FilePath) throws(MountError) -> Bool {
    try entry(at: path)?.type == vaultType
  }

  /// The topmost mount at exactly this path, or nil. Asks the mount itself nothing, so it cannot hang on a dead one.
  static func entry(at path: FilePath) throws(MountError) -> MountTableEntry? {
    try load().last { $0.mountpoint == path }
  }

  /// Where a mount is shown: at its mountpoint, or at another place where a folder above that was renamed since, or the mount
  /// bound there; nil where it is shown nowhere.
  static func entry(of mount: RunningMount, in table: [MountTableEntry]) -> MountTableEntry? {
    if let entry = table.last(where: { $0.mountpoint == mount.mountpoint }),
      entry.type == vaultType
    {
      return entry
    }
    // Of those that may be written a vault has one, besides what killed processes have left.
    return table.last {
      $0.type == vaultType && $0.source == mount.vault && !$0.isReadOnly
        && !Mountpoint.isDead($0.mountpoint)
    }
  }

  static func load() throws(MountError) -> [MountTableEntry] {
    parse(try SmallFile.load("/proc/self/mountinfo"))
  }

  /// What another process sees, which may be in a container; nothing where it has ended, or may not be looked at.
  static func load(seenBy process: Int32) -> [MountTableEntry] {
    do throws(MountError) {
      return parse(try SmallFile.load(FilePath("/proc/\(process)/mountinfo")))
    } catch {
      return []
    }
  }

  /// Reads the format of proc(5): fields separated by blanks, optional fields up to a lone `-`,
  /// blank, tab, newline and backslash as three octal digits. Lines that do not fit are passed over.
  static func parse(_ bytes: [UInt8]) -> [MountTableEntry] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap { parseLine($0) }
  }

  private static func parseLine(_ line: ArraySlice<UInt8>) -> MountTableEntry? {
    let fields = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard fields.count >= 9,
      let dash = fields[6...].firstIndex(where: { $0.elementsEqual([UInt8(ascii: "-")]) }),
      fields.count > dash + 2
    else { return nil }
    return MountTableEntry(
      device: String(decoding: fields[2], as: UTF8.self),
      mountpoint: FilePath(bytes: unescaped(fields[4])),
      type: String(decoding: unescaped(fields[dash + 1]), as: UTF8.self),
      source: FilePath(bytes: unescaped(fields[dash + 2])),
      isReadOnly: fields[5].split(separator: UInt8(ascii: ",")).contains {
        $0.elementsEqual("ro".utf8)
      })
  }

  private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
    OctalEscapes.decode(field)
  }
}
