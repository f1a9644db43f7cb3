import CPosix
import Glibc
import Places
import SystemPackage
import Testing

/// rename(2) and renameat2(2): what stands at the old and the new name before decides.
@Suite struct RenameTests {
  /// What a name stands for before a rename.
  enum Kind: String, CaseIterable, Sendable {
    case missing, file, emptyFolder, fullFolder, link

    func make(at path: FilePath) throws {
      switch self {
      case .missing: break
      case .file: try path.write("file \(path.lastComponent!.string)")
      case .emptyFolder: try path.makeDirectory()
      case .fullFolder:
        try path.makeDirectory()
        try path.appending("inside").write("in \(path.lastComponent!.string)")
      case .link: try path.symlink(to: Array("to \(path.lastComponent!.string)".utf8))
      }
    }

    /// Whether `path` is what `make(at:)` made under `name`.
    func isThere(at path: FilePath, madeAs name: String) throws -> Bool {
      switch self {
      case .missing: !path.exists
      case .file: try path.status().isRegular && path.text() == "file \(name)"
      case .emptyFolder: try path.status().isDirectory && path.names().isEmpty
      case .fullFolder: try path.appending("inside").text() == "in \(name)"
      case .link: try path.linkTarget() == Array("to \(name)".utf8)
      }
    }

    var isFolder: Bool { self == .emptyFolder || self == .fullFolder }
  }

  /// What rename(2) says to a pair.
  static func refusal(of old: Kind, over new: Kind) -> Errno? {
    switch (old, new) {
    case (.missing, _): .noSuchFileOrDirectory
    case (_, .missing): nil
    case (let old, .fullFolder) where old.isFolder: .directoryNotEmpty
    case (let old, let new) where old.isFolder && !new.isFolder: .notDirectory
    case (let old, let new) where !old.isFolder && new.isFolder: .isDirectory
    default: nil
    }
  }

  static let pairs = Kind.allCases.flatMap { old in Kind.allCases.map { (old, $0) } }

  @Test(arguments: Place.all, pairs)
  func replacesWhatItMay(place: Place, pair: (Kind, Kind)) throws {
    let (old, new) = pair
    for between in [false, true] {
      try place.withFolder { folder in
        let (from, to) = try Self.prepare(old, new, in: folder, betweenFolders: between)
        if let refusal = Self.refusal(of: old, over: new) {
          // Two errors are right for a folder that is not empty.
          let found = #expect(throws: Errno.self) { try from.rename(to: to) }
          #expect(found == refusal || (refusal == .directoryNotEmpty && found == .fileExists))
          #expect(try old.isThere(at: from, madeAs: "old"))
          #expect(try new.isThere(at: to, madeAs: "new"))
        } else {
          let inode = try from.status().st_ino
          try from.rename(to: to)
          #expect(!from.exists)
          #expect(try old.isThere(at: to, madeAs: "old"))
          #expect(try to.status().st_ino == inode)
        }
      }
    }
  }

  @Test(arguments: Place.all, pairs)
  func replacesNothingWhenAskedNotTo(place: Place, pair: (Kind, Kind)) throws {
    let (old, new) = pair
    try place.withFolder { folder in
      let (from, to) = try Self.prepare(old, new, in: folder, betweenFolders: true)
      let flag = PX_RENAME_NOREPLACE
      if old != .missing && new == .missing {
        try from.rename(to: to, flags: flag)
        #expect(try old.isThere(at: to, madeAs: "old"))
        #expect(!from.exists)
      } else {
        let found = #expect(throws: Errno.self) { try from.rename(to: to, flags: flag) }
        #expect(found == (old == .missing ? .noSuchFileOrDirectory : .fileExists))
        #expect(try old.isThere(at: from, madeAs: "old"))
        #expect(try new.isThere(at: to, madeAs: "new"))
      }
    }
  }

  @Test(arguments: Place.all, pairs)
  func exchanges(place: Place, pair: (Kind, Kind)) throws {
    let (old, new) = pair
    for between in [false, true] {
      try place.withFolder { folder in
        let (from, to) = try Self.prepare(old, new, in: folder, betweenFolders: between)
        let flag = PX_RENAME_EXCHANGE
        if old == .missing || new == .missing {
          #expect(throws: Errno.noSuchFileOrDirectory) { try from.rename(to: to, flags: flag) }
        } else {
          let inodes = try (from.status().st_ino, to.status().st_ino)
          try from.rename(to: to, flags: flag)
          #expect(try old.isThere(at: to, madeAs: "old"))
          #expect(try new.isThere(at: from, madeAs: "new"))
          #expect(try to.status().st_ino == inodes.0)
          #expect(try from.status().st_ino == inodes.1)
        }
      }
    }
  }

  @Test(arguments: Place.all)
  func movesNoFolderIntoItself(place: Place) throws {
    try place.withFolder { folder in
      let outer = folder.appending("outer")
      let inner = outer.appending("inner")
      try outer.makeDirectory()
      try inner.makeDirectory()
      #expect(throws: Errno.invalidArgument) { try outer.rename(to: inner.appending("x")) }
      #expect(throws: Errno.invalidArgument) { try outer.rename(to: outer.appending("x")) }
      #expect(throws: (any Error).self) { try inner.rename(to: outer) }
      #expect(throws: Errno.invalidArgument) {
        try outer.rename(to: inner, flags: PX_RENAME_EXCHANGE)
      }
      #expect(try outer.textNames() == ["inner"])
      #expect(try inner.names() == [])
    }
  }

  @Test(arguments: Place.all)
  func renamesOntoItself(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("file")
      try path.write("x")
      try path.rename(to: path)
      #expect(try path.text() == "x")
      // Two links of one file: both stay, as POSIX has it.
      let other = folder.appending("other")
      try other.link(to: path)
      try path.rename(to: other)
      #expect(try folder.textNames() == ["file", "other"])
    }
  }

  @Test(arguments: Place.all)
  func movesAWholeTree(place: Place) throws {
    try place.withFolder { folder in
      let (first, second) = (folder.appending("first"), folder.appending("second"))
      try first.makeDirectory()
      try second.makeDirectory()
      let tree = first.appending("tree")
      try tree.makeDirectory()
      try tree.appending("sub").makeDirectory()
      try tree.appending("sub").appending("file").write("deep")
      let open = try OpenFile(tree.appending("sub").appending("file"), O_RDWR)

      try tree.rename(to: second.appending("moved"))

      let file = second.appending("moved").appending("sub").appending("file")
      #expect(try file.text() == "deep")
      try open.write(Array("DEEP".utf8), at: 0)
      #expect(try file.text() == "DEEP")
      #expect(try Command(["ls", ".."], in: second.appending("moved")).succeed() == "moved\n")
      #expect(!tree.exists)
    }
  }

  @Test(arguments: Place.all)
  func changesTheCaseOfAName(place: Place) throws {
    try place.withFolder { folder in
      try folder.appending("card.jpg").write("x")
      try folder.appending("card.jpg").rename(to: folder.appending("Card.JPG"))
      #expect(try folder.textNames() == ["Card.JPG"])
    }
  }

  /// Write beside, sync, rename over: a hundred times, and always the newest content.
  @Test(arguments: Place.all)
  func savesAsEditorsDo(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("record.md")
      for version in 0..<100 {
        let temporary = folder.appending(".record.md.tmp")
        let file = try OpenFile.create(temporary)
        try file.write("version \(version)")
        try file.sync()
        try temporary.rename(to: path)
        #expect(try path.text() == "version \(version)")
      }
      #expect(try folder.textNames() == ["record.md"])
    }
  }

  private static func prepare(
    _ old: Kind, _ new: Kind, in folder: FilePath, betweenFolders: Bool
  ) throws -> (from: FilePath, to: FilePath) {
    var target = folder
    if betweenFolders {
      target = folder.appending("target")
      try target.makeDirectory()
    }
    let (from, to) = (folder.appending("old"), target.appending("new"))
    try old.make(at: from)
    try new.make(at: to)
    return (from, to)
  }
}
