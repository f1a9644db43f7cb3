import Glibc
import SystemPackage

/// What `fusermount3`, which mounts for ordinary users, is going to refuse. It says so on standard error only, which a
/// process in the background does not have.
enum FuseConfiguration {
  static let path: FilePath = "/etc/fuse.conf"

  /// - Throws: `othersNotAllowed`, `noDevice`. Never for root, who does not need `fusermount3`.
  static func check(_ options: MountOptions) throws(MountError) {
    guard geteuid() != 0 else { return }
    guard access("/dev/fuse", R_OK | W_OK) == 0 else { throw .noDevice(errno: errno) }
    guard options.allowsOthers else { return }
    // A file that is not there or cannot be read allows nothing.
    let text = (try? SmallFile.load(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard allowsOthers(text) else { throw .othersNotAllowed }
  }

  /// Whether the configuration has the line that lets ordinary users let others in.
  static func allowsOthers(_ text: String) -> Bool {
    text.split(separator: "\n").contains { line in
      line.prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace) == ["user_allow_other"]
    }
  }
}
