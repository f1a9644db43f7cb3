import Vault
import VaultModel

@testable import VaultFiles

/// One thing that a tree shows, as whoever looks at it sees it; times of the last look and of the last change of
/// attributes left out, which are of one mount.
struct ShownThing: Hashable, CustomStringConvertible {
  let mode: UInt32
  let linkCount: UInt32
  let owner: [UInt32]
  let modified: FileTimestamp
  let xattrs: [[UInt8]: [UInt8]]
  /// A file's bytes, or where a link leads; nil for a directory.
  let content: [UInt8]?

  var description: String {
    let text = content.map { String(decoding: $0.prefix(40), as: UTF8.self) } ?? "/"
    return "\(String(mode, radix: 8)) x\(linkCount) \(text) \(modified) \(xattrs.count) xattrs"
  }
}

extension FileTree {
  /// Everything in it by path.
  func snapshot() throws -> [String: ShownThing] {
    var found: [String: ShownThing] = [:]
    var waiting = try list("")
    while let path = waiting.popLast() {
      let attributes = try stat(path)
      let isFolder = attributes.type == FileMode.directory
      var xattrs: [[UInt8]: [UInt8]] = [:]
      for name in try xattrNames(attributes.inode) {
        xattrs[name] = try xattr(attributes.inode, name)
      }
      let content: [UInt8]? =
        switch attributes.type {
        case FileMode.directory: nil
        case FileMode.symlink: try readLink(attributes.inode)
        default: try read(path)
        }
      found[path] = ShownThing(
        mode: attributes.mode, linkCount: isFolder ? 0 : attributes.linkCount,
        owner: [attributes.uid, attributes.gid], modified: attributes.modified, xattrs: xattrs,
        content: content)
      if isFolder { waiting += try list(path).map { "\(path)/\($0)" } }
    }
    return found
  }
}

extension MountedVault {
  /// What the running mount shows otherwise than one that begins now; both have the same on disk.
  func differencesFromFresh() throws -> [String] {
    let vault = try openAgain(readOnly: true)
    let fresh = try FileTree.load(vault: vault, options: options).snapshot()
    try vault.close()
    let live = try tree.snapshot()
    return Set(fresh.keys).union(live.keys).filter { fresh[$0] != live[$0] }.sorted().map {
      "\($0): live \(live[$0].map(\.description) ?? "-"), fresh \(fresh[$0].map(\.description) ?? "-")"
    }
  }
}
