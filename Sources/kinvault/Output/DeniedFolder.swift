import Glibc
import SystemPackage

/// The folder that keeps this user from a path: one above it that may not be entered, or the folder at the path itself.
struct DeniedFolder {
  private let path: FilePath
  /// What may not be done with it, as a verb.
  private let verb: String
  private let status: stat

  /// Nil where no mode of a folder forbids anything.
  static func find(onTheWayTo path: FilePath) -> DeniedFolder? {
    var folder = FilePath(root: path.root, [])
    for component in path.components {
      if let verb = denied([(X_OK, "enter")], at: folder) { return look(at: folder, verb) }
      let next = folder.appending(component)
      if access(next.string, F_OK) != 0 { break }
      folder = next
    }
    // What was to be opened, or that in which it was to be made.
    let rights = [(X_OK, "enter"), (R_OK, "list"), (W_OK, "change")]
    guard let verb = denied(rights, at: folder) else { return nil }
    return look(at: folder, verb)
  }

  /// Nil for what is no folder, or is gone.
  private static func look(at folder: FilePath, _ verb: String) -> DeniedFolder? {
    var status = stat()
    guard stat(folder.string, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return nil }
    return DeniedFolder(path: folder, verb: verb, status: status)
  }

  /// What is done by the first right that this user lacks.
  private static func denied(_ rights: [(Int32, String)], at folder: FilePath) -> String? {
    rights.first { right, _ in access(folder.string, right) != 0 && errno == EACCES }?.1
  }

  /// Which folder it is, what keeps this user from it, and what to do.
  var text: String {
    let name = Terminal.visible(path.string)
    guard status.st_uid == geteuid() else {
      return
        "you may not \(verb) \(name), which belongs to somebody else. Have them give you that right, or use a folder of "
        + "your own."
    }
    let mode = String(0o1000 | status.st_mode & 0o777, radix: 8).dropFirst()
    return
      "\(name) belongs to you, and its mode (\(mode)) does not let you \(verb) it. To mend that: chmod u+rwx "
      + ShellWord.quoted(path.string)
  }

  /// What is said where a whole path was refused to this user.
  static func message(for path: String) -> String {
    if let denied = DeniedFolder.find(onTheWayTo: FilePath(path)) {
      return "Permission denied: \(denied.text)"
    }
    return
      "Permission denied: \(Terminal.visible(path)). Its mode is not what forbids it: see what else guards it, such as a "
      + "container or how its disk is mounted."
  }
}
