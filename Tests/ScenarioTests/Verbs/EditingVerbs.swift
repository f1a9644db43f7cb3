import VaultModel

@testable import Vault
@testable import VaultFiles

extension Verb {
  /// What people do with files and folders in the mount; each is one commit.
  static let editing = [
    Verb(
      "writes TEXT to PATH",
      .eachDevice { _, device, says in
        try device.act { tree in
          try tree.makeFolders(says["PATH"].parentPath)
          try tree.write(says["PATH"], Array(says["TEXT"].utf8))
        }
      }),
    Verb(
      "attaches LABEL of SIZE UNIT as PATH",
      .eachDevice { world, device, says in
        let units: [String: UInt64] = ["bytes": 1, "kB": 1 << 10, "MB": 1 << 20]
        guard let unit = units[says["UNIT"]] else { throw says.wrong("sizes are in bytes, kB, MB") }
        let count = Int(try says.number("SIZE") * unit)
        let bytes = world.attachment(says["LABEL"], byteCount: count)
        try device.act { tree in
          try tree.makeFolders(says["PATH"].parentPath)
          try tree.write(says["PATH"], bytes)
        }
      }),
    Verb(
      "makes PATH",
      .eachDevice { _, device, says in try device.act { try $0.makeFolders(says["PATH"]) } }),
    Verb(
      "deletes PATH",
      .eachDevice { _, device, says in try device.act { try $0.remove(says["PATH"]) } }),
    Verb(
      "writes COUNT records in PATH",
      .eachDevice { _, device, says in
        let count = try says.number("COUNT")
        try device.act { tree in
          for number in 1...count {
            let path = "\(says["PATH"])/Record \(number)"
            try tree.makeFolders(path)
            try tree.write("\(path)/record.md", Array("number \(number)".utf8))
          }
        }
      }),
    Verb(
      "deletes COUNT records in PATH",
      .eachDevice { _, device, says in
        let count = try says.number("COUNT")
        try device.act { tree in
          for number in 1...count { try tree.remove("\(says["PATH"])/Record \(number)") }
        }
      }),
    Verb(
      "edits COUNT records in PATH",
      .eachDevice { _, device, says in
        let count = try says.number("COUNT")
        try device.act { tree in
          for number in 1...count {
            try tree.write(
              "\(says["PATH"])/Record \(number)/record.md",
              Array("by \(device.name), \(number)".utf8))
          }
        }
      }),
  ]

  static let renaming = [
    Verb(
      "moves PATH to TARGET",
      .eachDevice { _, device, says in
        try device.act { tree in
          try tree.makeFolders(says["TARGET"].parentPath)
          try tree.move(says["PATH"], to: says["TARGET"])
        }
      }),
    Verb(
      "renames PATH to TARGET",
      .eachDevice { _, device, says in
        try device.act { try $0.move(says["PATH"], to: says["TARGET"]) }
      }),
    Verb(
      "saves TEXT over PATH",
      // As editors do: a new file, renamed over the old one.
      .eachDevice { _, device, says in
        let path = says["PATH"]
        try device.act { tree in
          try tree.write(path + ".new", Array(says["TEXT"].utf8))
          try tree.move(path + ".new", to: path)
        }
      }),
  ]

  /// Programs that keep a file open while others change it.
  static let opening = [
    Verb(
      "opens PATH",
      .eachDevice { _, device, says in
        let path = says["PATH"]
        try device.act { device.handles[path] = try $0.openToWrite(path) }
      }),
    Verb(
      "types TEXT into PATH",
      .eachDevice { _, device, says in
        guard let handle = device.handles[says["PATH"]] else {
          throw says.wrong("\(device.name) has not opened it")
        }
        // Not part of a commit before it is closed or a while has passed.
        try handle.replaceContent(by: Array(says["TEXT"].utf8))
      }),
    Verb(
      "closes PATH",
      .eachDevice { _, device, says in
        guard let handle = device.handles.removeValue(forKey: says["PATH"]) else {
          throw says.wrong("\(device.name) has not opened it")
        }
        try device.act { _ in
          try handle.flush()
          handle.release()
        }
      }),
    Verb(
      "takes back the conflict of PATH",
      .eachDevice { _, device, says in
        try device.resolve(says["PATH"], says) { member, conflict in
          try member.edits(takingBack: conflict)
        }
      }),
    Verb(
      "discards the conflict of PATH",
      .eachDevice { _, device, says in
        try device.resolve(says["PATH"], says) { member, conflict in
          try member.edits(discarding: conflict)
        }
      }),
  ]
}

extension Device {
  /// Decides about the one conflict of a record.
  fileprivate func resolve(
    _ path: String, _ says: Sentence, _ edits: (Member, KeptConflict) throws -> [RecordEdit]
  ) throws {
    let isFound = try besides { vault in
      for member in vault.members {
        for conflict in try member.keptConflicts()
        where member.displayPath(of: conflict.mark.record) == path {
          let commit = try member.commit(edits(member, conflict))
          if let failure = commit.failures.values.first { throw failure }
          return true
        }
      }
      return false
    }
    if isFound { return }
    throw says.wrong("there is no conflict of “\(path)”")
  }
}

extension String {
  /// The path without its last part; empty for a single name.
  var parentPath: String { split(separator: "/").dropLast().joined(separator: "/") }
}
