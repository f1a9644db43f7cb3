import Places
import SystemPackage
import Testing

/// cp, rsync, tar, zip: everything that was put in comes out, and nothing is found changed.
@Suite struct CopyingTests {
  @Test(arguments: Place.all)
  func cpKeepsEverything(place: Place) throws {
    try withSample(place) { sample, folder in
      let (inside, outside) = (
        folder.appending("copy"), try TestFolder.shared.fresh("out").appending("back")
      )
      try Command(["cp", "-a", sample.string, inside.string]).succeed()
      try Trees.expectSame(inside, sample)
      try Command(["cp", "-a", inside.string, outside.string]).succeed()
      try Trees.expectSame(outside, sample)
      #expect(
        try Command(["getfattr", "--only-values", "-n", "user.comment", "plain.txt"], in: outside)
          .succeed()
          == "first visit")
    }
  }

  @Test(arguments: Place.all)
  func cpWithinThePlaceKeepsEverything(place: Place) throws {
    try withSample(place) { sample, folder in
      try Command(["cp", "-a", sample.string, folder.appending("one").string]).succeed()
      try Command(["cp", "-a", "one", "two"], in: folder).succeed()
      try Trees.expectSame(folder.appending("two"), sample)
      try Command(["mv", "two", "three"], in: folder).succeed()
      try Trees.expectSame(folder.appending("three"), sample)
      try Command(["diff", "-r", "--no-dereference", "one", "three"], in: folder).succeed()
    }
  }

  @Test(arguments: Place.all, [["-a"], ["-aH"], ["-aHX", "--inplace"], ["-aHX", "--checksum"]])
  func rsyncFindsNothingToDoTheSecondTime(place: Place, options: [String]) throws {
    try withSample(place) { sample, folder in
      let (inside, outside) = (folder.appending("copy"), try TestFolder.shared.fresh("out"))
      let hasLinks = options[0].contains("H")
      for (source, target) in [(sample, inside), (inside, outside)] {
        let command = Command(
          ["rsync"] + options + ["--itemize-changes", source.string + "/", target.string + "/"])
        let first = try command.succeed()
        #expect(!first.isEmpty)
        #expect(try command.succeed() == "")
        if hasLinks {
          try Trees.expectSame(target, sample)
        } else {
          #expect(try Trees.digests(of: target) == Trees.digests(of: sample))
        }
      }
    }
  }

  @Test(arguments: Place.all)
  func rsyncCarriesChangesAndDeletions(place: Place) throws {
    try withSample(place) { sample, folder in
      let command = Command(["rsync", "-aH", "--delete", sample.string + "/", folder.string + "/"])
      try command.succeed()
      try Command(
        [
          "sh", "-ec",
          "echo more >>plain.txt; rm -r deep; mkdir new; echo x >new/file; truncate -s 10 a-chunk; touch -d 2022-01-01 new",
        ],
        in: sample
      ).succeed()
      try command.succeed()
      try Trees.expectSame(folder, sample)
    }
  }

  @Test(arguments: Place.all, ["", "--gzip"])
  func tarKeepsEverything(place: Place, compression: String) throws {
    try withSample(place) { sample, folder in
      let options = compression.isEmpty ? [] : [compression]
      let archive = folder.appending("archive.tar").string
      try Command(
        ["tar", "--format=posix"] + options + ["-cf", archive, "-C", sample.string, "."]
      ).succeed()
      let unpacked = folder.appending("unpacked")
      try unpacked.makeDirectory()
      try Command(["tar"] + options + ["-xpf", archive, "-C", unpacked.string]).succeed()
      try Trees.expectSame(unpacked, sample)
      let second = try TestFolder.shared.fresh("out")
      try Command([
        "sh", "-c", #"tar --format=posix -cf - -C "$0" . | tar -xpf - -C "$1""#, unpacked.string,
        second.string,
      ])
      .succeed()
      try Trees.expectSame(second, sample)
      try Command(["tar"] + options + ["--compare", "-f", archive, "-C", unpacked.string]).succeed()
    }
  }

  @Test(arguments: Place.all)
  func zipUnpacks(place: Place) throws {
    try withSample(place) { sample, folder in
      // What zip can carry: not a name that is no text, not nanoseconds.
      try Command(
        ["zip", "-q", "-r", folder.appending("archive.zip").string, "Visits", "a-chunk", "run"],
        in: sample
      )
      .succeed()
      try Command(["unzip", "-q", "archive.zip", "-d", "unpacked"], in: folder).succeed()
      try Command(["unzip", "-t", "archive.zip"], in: folder).succeed()
      for name in ["a-chunk", "run", "Visits/2024 小児科/scan one.jpg"] {
        try Command(["cmp", "unpacked/\(name)", sample.string + "/" + name], in: folder).succeed()
      }
      #expect(try folder.appending("unpacked").appending("run").status().permissions == 0o755)
    }
  }

  @Test(arguments: Place.all)
  func theSampleFamilyComesOutAsItWentIn(place: Place) throws {
    try place.withFolder { folder in
      let family = Repository.root.appending("Fixtures").appending("family")
      for member in try family.textNames() {
        try Command(["cp", "-r", family.appending(member).string, folder.string]).succeed()
      }
      #expect(try Trees.digests(of: folder) == Trees.digests(of: family))
      #expect(
        try Command(["grep", "-rl", "ليلى", "."], in: folder).succeed().contains("record.md"))
    }
  }

  private func withSample(
    _ place: Place, _ body: (_ sample: FilePath, _ folder: FilePath) throws -> Void
  ) throws {
    let sample = try TestFolder.shared.fresh("sample")
    defer { TestFolder.remove(sample) }
    try Trees.makeSample(in: sample)
    try place.withFolder { try body(sample, $0) }
  }
}
