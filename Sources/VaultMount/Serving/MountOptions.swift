import BlobStore
import SystemPackage

/// How a tree is mounted.
package struct MountOptions: Sendable {
  /// Lets other users of the machine in; the kernel then checks the permission bits of every file.
  package var allowsOthers = false
  /// Refuses every change before it reaches the tree.
  package var isReadOnly = false
  /// Unmounts after this long without a request and with nothing open.
  package var idleTimeout: Duration?

  package init() {}

  /// The most bytes that one read asks for.
  static let readLimit = 1 << 20

  /// The list after `-o` that libfuse takes.
  func list(vault: FilePath) -> String {
    var options = [
      "subtype=kinvault", "fsname=\(Self.source(vault))", "nosuid", "nodev", "noatime",
      "max_read=\(Self.readLimit)",
    ]
    if allowsOthers { options += ["allow_other", "default_permissions"] }
    if isReadOnly { options.append("ro") }
    return options.joined(separator: ",")
  }

  /// The vault folder as the mount table shows it; `kinvault` where a list of options cannot carry the path.
  static func source(_ vault: FilePath) -> String {
    let isPlain = vault.bytes.allSatisfy {
      $0 > 0x1f && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\\")
    }
    return isPlain && vault.bytes.elementsEqual(vault.string.utf8) ? vault.string : "kinvault"
  }
}
