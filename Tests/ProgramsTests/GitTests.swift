import Places
import SystemPackage
import Testing

/// git leans on hard links, exclusive creation, rename over, mmap and read-only files.
@Suite struct GitTests {
  static let identity = [
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
  ]

  @Test(arguments: Place.all)
  func keepsAHistory(place: Place) throws {
    try place.withFolder { folder in
      let origin = folder.appending("origin")
      try origin.makeDirectory()
      try Self.git(["init", "-q", "-b", "main"], in: origin)
      for commit in 0..<15 {
        for file in 0..<8 {
          try origin.appending("file \(file)").write(
            "commit \(commit)\n" + String(repeating: "\(file)\n", count: 300))
        }
        try origin.appending("big \(commit)").write(
          SeededRandom.bytes(200_000, seed: UInt64(commit)))
        try Self.git(["add", "-A"], in: origin)
        try Self.git(["commit", "-q", "-m", "commit \(commit)"], in: origin)
      }
      try Self.git(["checkout", "-q", "-b", "side", "HEAD~5"], in: origin)
      try origin.appending("file 1").write("side\n")
      try Self.git(["commit", "-q", "-am", "side"], in: origin)
      try Self.git(["checkout", "-q", "main"], in: origin)
      #expect(try Self.git(["status", "--porcelain"], in: origin) == "")

      try Self.git(["gc", "-q", "--aggressive", "--prune=now"], in: origin)
      try Self.git(["fsck", "--strict", "--full"], in: origin)
      #expect(try Self.git(["rev-list", "--count", "--all"], in: origin) == "16\n")

      // A local clone makes hard links.
      let clone = folder.appending("clone")
      try Self.git(["clone", "-q", "origin", "clone"], in: folder)
      try Self.git(["fsck", "--strict"], in: clone)
      #expect(
        try Self.git(["rev-parse", "main"], in: clone)
          == Self.git(["rev-parse", "main"], in: origin))
      try Self.git(["clone", "-q", "--no-local", "clone", "second"], in: folder)
      #expect(try Self.git(["status", "--porcelain"], in: folder.appending("second")) == "")
      try Self.git(["worktree", "add", "-q", "../tree", "HEAD~3"], in: clone)
      try Self.git(["stash", "list"], in: folder.appending("tree"))
    }
  }

  @Test(arguments: Place.all)
  func clonesBetweenThePlaceAndTheDisk(place: Place) throws {
    try place.withFolder { folder in
      let outside = try TestFolder.shared.fresh("repository")
      try Self.git(["init", "-q", "-b", "main"], in: outside)
      try outside.appending("file").write("x")
      try Self.git(["add", "."], in: outside)
      try Self.git(["commit", "-q", "-m", "one"], in: outside)
      try Self.git(["clone", "-q", outside.string, "inside"], in: folder)
      let inside = folder.appending("inside")
      try inside.appending("file").write("y")
      try Self.git(["commit", "-q", "-am", "two"], in: inside)
      try Self.git(["push", "-q", "origin", "main:pushed"], in: inside)
      #expect(try Self.git(["show", "pushed:file"], in: outside) == "y")
    }
  }

  @discardableResult
  private static func git(_ arguments: [String], in folder: FilePath) throws -> String {
    try Command(["git"] + arguments, in: folder, environment: identity).succeed()
  }
}
