import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// Previews in the cache, good and hostile.
@Suite struct PreviewTests {
  @Test func removesThoseOfTheMountInEverySizeAndNoOthers() throws {
    let home = try TraceFolder()
    let folders = [
      ".cache/thumbnails/normal", ".cache/thumbnails/large", ".cache/thumbnails/x-large",
      ".cache/thumbnails/xx-large", ".cache/thumbnails/fail/gnome-thumbnail-factory",
      ".thumbnails/normal",
    ]
    for folder in folders {
      try home.preview(of: "file:///mnt/Family/Emma/card.jpg", at: "\(folder)/in.png")
      try home.preview(of: "file:///home/anna/cat.jpg", at: "\(folder)/out.png")
    }
    let found = home.search.find()
    #expect(found.failures.isEmpty)
    #expect(found.traces.count == folders.count)
    #expect(found.traces.count { $0.kind == .failedPreview } == 1)
    #expect(found.traces.allSatisfy { $0.path == Array("/mnt/Family/Emma/card.jpg".utf8) })
    #expect(home.search.remove(sparesUnsavedWork: false) == found)
    for folder in folders {
      #expect(try !home.has("\(folder)/in.png"))
      #expect(try home.has("\(folder)/out.png"))
    }
    #expect(home.search.find() == TraceReport())
  }

  @Test(arguments: [
    "file:///mnt/Family/a%20b/Zo%C3%AB%20%2525.jpg", "file:/mnt/Family/a", "FILE:///mnt/Family/a",
    "file://localhost/mnt/Family/a", "file:///mnt//Family/./a", "file:///mnt/x/../Family/a",
    "file:///mnt/Famil%79/%FF%0a", "file:///mnt/Family/a?b#c",
  ])
  func knowsAPathHoweverItIsWritten(uri: String) throws {
    let home = try TraceFolder()
    try home.preview(of: uri, at: ".cache/thumbnails/large/a.png")
    #expect(home.search.remove(sparesUnsavedWork: false).traces.count == 1)
    #expect(try !home.has(".cache/thumbnails/large/a.png"))
  }

  @Test(arguments: [
    "file:///mnt/Family2/a", "file:///mnt/Family", "file:///mnt/Family/", "file:///mnt/Family%2Fa",
    "file:///mnt/Family/../Other/a", "file:///mnt/Family/%2e%2e/Other/a", "file://nas/mnt/Family/a",
    "file:///mnt/Family/a%00b", "file:///mnt/Family/%zz", "file:///mnt/Family/%2",
    "trash:///mnt/Family/a", "/mnt/Family/a", "file:mnt/Family/a", "", "file:///",
  ])
  func leavesWhatNamesNothingBelowTheMountpoint(uri: String) throws {
    let home = try TraceFolder()
    try home.preview(of: uri, at: ".cache/thumbnails/large/a.png")
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
    #expect(try home.has(".cache/thumbnails/large/a.png"))
  }

  @Test func readsNoMoreOfAHugeOrCutPictureThanItsTexts() throws {
    let uri = Array("Thumb::URI\0file:///mnt/Family/a".utf8)
    let start = Array(TraceFolder.png([]).prefix(33))
    // The text says that it has 4 GiB; one has 1 MiB; there is no end; the signature alone; another key before.
    let passedOver: [[UInt8]] = [
      start + [255, 255, 255, 255] + Array("tEXt".utf8) + uri,
      TraceFolder.png([("tEXt", uri + [UInt8](repeating: 0x61, count: 1 << 20))]),
      start + TraceFolder.big(uri.count) + Array("tEXt".utf8) + uri.dropLast(),
      Array(start.prefix(8)), [], Array("Thumb::URI\0file:///mnt/Family/a".utf8),
      TraceFolder.png([(type: String, data: [UInt8])](repeating: ("teST", []), count: 20_000))
        + TraceFolder.png([("tEXt", uri)]),
    ]
    let home = try TraceFolder()
    for (index, bytes) in passedOver.enumerated() {
      try home.write(bytes, at: ".cache/thumbnails/large/\(index).png")
    }
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
    // Behind other texts and far behind the beginning it counts.
    try home.write(
      TraceFolder.png([
        ("tEXt", Array("Thumb::URIx\0file:///nowhere".utf8)),
        ("IDAT", [UInt8](repeating: 7, count: 100_000)), ("tEXt", uri),
      ]), at: ".cache/thumbnails/large/late.png")
    #expect(home.search.remove(sparesUnsavedWork: false).traces.count == 1)
  }

  @Test func followsNoLinkOutOfTheCache() throws {
    let home = try TraceFolder()
    try home.preview(of: "file:///mnt/Family/a", at: "elsewhere/a.png")
    try home.preview(of: "file:///mnt/Family/a", at: ".cache/thumbnails/large/b.png")
    let cache = home.folder.appending(".cache/thumbnails")
    #expect(symlink("../../../elsewhere/a.png", cache.appending("large/a.png").string) == 0)
    #expect(symlink("../../elsewhere", cache.appending("normal").string) == 0)
    #expect(mkfifo(cache.appending("large/pipe.png").string, 0o600) == 0)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.count == 1)
    #expect(report.failures.map(\.place) == [cache.appending("normal").string])
    #expect(try home.has("elsewhere/a.png"))
  }
}
