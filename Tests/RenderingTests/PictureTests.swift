import Glibc
import Rendering
import SystemPackage
import TestSupport
import Testing

/// The pictures that are made of images and of pages.
@Suite struct PictureTests {
  private let renderer: Renderer

  init() throws { renderer = try Renderer.built() }

  private func thumbnail(_ bytes: [UInt8], _ side: Int = 256) throws -> Pixels {
    try Pixels(renderer.thumbnail(of: bytes, side: side))
  }

  // MARK: What is shown

  @Test(arguments: Image.formats) func anImageIsMadeSmall(_ format: String) throws {
    let image = try Image.sample(as: format)
    let small = try thumbnail(image)
    #expect(small.width == 256 && small.height == 160)
    #expect(
      small.has([255, 255, 255, 255], at: 20, 20) && small.has([128, 0, 128, 255], at: 128, 80))
    #expect(small.has([250, 0, 4, 255], at: 128, 2) && small.has([4, 0, 250, 255], at: 128, 157))
    let same = try thumbnail(image, 2048)
    #expect(same.width == 640 && same.height == 400)
    #expect(
      same.has([255, 255, 255, 255], at: 97, 97) && same.has([95, 0, 160, 255], at: 400, 250))
    #expect(renderer.pageCount(of: image) == .bytes(Array("1".utf8)))
    #expect(renderer.page(2, of: image, side: 256) == .nothing)
    let first = try Pixels(renderer.page(1, of: image, side: 100))
    #expect(first.width == 100 && first.height == 63)
  }

  @Test func everyKindOfPixelIsShown() throws {
    let middle = [128, 0, 128, 255]
    for (name, bytes) in [
      ("16 bits", try Image.sample(as: "png", "-depth", "16")),
      ("a palette", try Image.sample(as: "png8")),
      ("interlaced", try Image.sample(as: "png", "-interlace", "PNG")),
      ("interlaced GIF", try Image.sample(as: "gif", "-interlace", "GIF")),
      ("progressive", try Image.sample(as: "jpg", "-interlace", "JPEG")),
      ("CMYK", try Image.sample(as: "jpg", "-colorspace", "CMYK")),
      ("CMYK TIFF", try Image.sample(as: "tiff", "-colorspace", "CMYK", "-depth", "8")),
      ("lossless", try Image.sample(as: "webp", "-define", "webp:lossless=true")),
      ("TIFF of 16 bits", try Image.sample(as: "tiff", "-depth", "16")),
      ("LZW", try Image.sample(as: "tiff", "-compress", "LZW")),
      ("JPEG in TIFF", try Image.sample(as: "tiff", "-compress", "JPEG")),
    ] {
      let small = try thumbnail(bytes)
      #expect(
        small.has(middle, at: 128, 80) && small.has([255, 255, 255, 255], at: 20, 20), "\(name)")
      #expect(small.has([250, 0, 4, 255], at: 128, 2), "\(name)")
    }
    for format in ["jpg", "png", "tiff"] {
      let small = try thumbnail(Image.sample(as: format, "-colorspace", "gray"))
      let grey = small[128, 80]
      #expect(grey[0] < 100 && grey[0] == grey[1] && grey[1] == grey[2], "\(format): \(grey)")
      #expect(small.has([255, 255, 255, 255], at: 20, 20))
    }
    // A fax, and a scan in black and white.
    for format in ["tiff", "png"] {
      let bilevel = try Image.quarters(
        400, 400, as: format,
        ["-monochrome", "-depth", "1"] + (format == "tiff" ? ["-compress", "Group4"] : []))
      let small = try thumbnail(bilevel)
      #expect(
        small.has([255, 255, 255, 255], at: 200, 200) && small.has([0, 0, 0, 255], at: 60, 200))
    }
  }

  @Test func whatCanBeSeenThroughStaysSo() throws {
    for format in ["png", "webp", "tiff"] {
      let half = try thumbnail(
        Image.sample(as: format, "-alpha", "set", "-channel", "A", "-evaluate", "set", "50%"))
      #expect(half.has([128, 0, 128, 128], at: 128, 80), "\(format): \(half)")
    }
    // The colour of what cannot be seen does not run into what can.
    let edge = try thumbnail(
      Image.convert([
        "-size", "600x600", "xc:rgba(0,255,0,0)", "-fill", "red", "-draw", "rectangle 0,0 301,599",
        "png:-",
      ]))
    #expect(edge.has([255, 0, 0, 255], at: 100, 100) && edge[200, 100][3] == 0)
    for x in 120..<130 where edge[x, 100][3] > 20 {
      #expect(edge[x, 100][1] < 60, "\(edge[x, 100])")
    }
    let gif = try thumbnail(
      Image.convert([
        "-size", "60x60", "xc:none", "-fill", "red", "-draw", "rectangle 0,0 29,59", "gif:-",
      ]))
    #expect(gif.has([255, 0, 0, 255], at: 5, 30) && gif[50, 30][3] == 0)
  }

  @Test func averagesAreExact() throws {
    // Lines of a pixel, as fine as they can be, become even grey, whatever the sizes are.
    for width in [300, 301, 511, 700] {
      let image = try Image.convert(["-size", "\(width)x\(width)", "pattern:gray50", "png:-"])
      let small = try thumbnail(image, 64)
      for place in [3, 31, 60] {
        #expect(small.has([128, 128, 128, 255], at: place, place, within: 10))
      }
    }
    for (width, height) in [(3000, 1), (1, 3000), (2999, 7)] {
      let small = try thumbnail(Image.made("-size", "\(width)x\(height)", "xc:red", as: "png"))
      let longest = Double(max(width, height))
      #expect(small.width == max(1, Int((Double(width) * 256 / longest).rounded())))
      #expect(small.height == max(1, Int((Double(height) * 256 / longest).rounded())))
      #expect(small.has([255, 0, 0, 255], at: 0, 0))
    }
  }

  @Test func anImageIsTurnedAsItsCameraWasHeld() throws {
    // What was done to it for each value, so that it is stored as the value says.
    let turns = [
      1: [], 2: ["-flop"], 3: ["-rotate", "180"], 4: ["-flip"], 5: ["-transpose"],
      6: ["-rotate", "270"], 7: ["-transverse"], 8: ["-rotate", "90"],
    ]
    for (orientation, turn) in turns {
      let stored = try Image.quarters(600, 400, as: "jpg", turn)
      let exif = Image.exif(orientation: UInt8(orientation))
      let jpeg = Image.jpeg(stored, with: 0xE1, exif)
      let names = [
        "TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom",
        "LeftBottom",
      ]
      let tiff = try Image.convert(["jpg:-", "-orient", names[orientation - 1], "tiff:-"], stored)
      let webp = try Image.convert(["jpg:-", "webp:-"], jpeg)
      for (name, bytes) in [("jpg", jpeg), ("tiff", tiff), ("webp", webp)] {
        let small = try thumbnail(bytes)
        #expect(small.width == 256 && small.height == 171, "\(name) \(orientation)")
        #expect(small.has([255, 0, 0, 255], at: 60, 40, within: 40), "\(name) \(orientation)")
        #expect(small.has([0, 255, 0, 255], at: 190, 40, within: 40), "\(name) \(orientation)")
        #expect(small.has([0, 0, 255, 255], at: 60, 130, within: 40), "\(name) \(orientation)")
      }
    }
  }

  @Test func nothingButThePictureIsLeft() throws {
    let place = "52.5163N 13.3777E"
    var image = try Image.sample(as: "jpg", "-comment", place)
    image = Image.jpeg(image, with: 0xE1, Image.exif(orientation: 1, place))
    image = Image.jpeg(
      image, with: 0xE1, Array("http://ns.adobe.com/xap/1.0/\0<x>\(place)</x>".utf8))
    let profile = Array("ICC_PROFILE\0".utf8) + [1, 1] + Image.swappingProfile
    image = Image.jpeg(image, with: 0xE2, profile)
    guard case .bytes(let answer) = renderer.thumbnail(of: image, side: 256) else {
      Issue.record("there is no picture")
      return
    }
    #expect(String(decoding: answer, as: UTF8.self).contains("13.3777") == false)
    // One chunk, and that is the picture.
    #expect(answer[12..<16].elementsEqual("VP8 ".utf8))
    #expect(20 + (answer[16..<20].reversed().reduce(0) { $0 << 8 | Int($1) }) >= answer.count - 1)
  }

  @Test func coloursAreAsTheProfileSays() throws {
    let profile = Array("ICC_PROFILE\0".utf8) + [1, 1] + Image.swappingProfile
    let swapped = try thumbnail(Image.jpeg(Image.sample(as: "jpg"), with: 0xE2, profile))
    #expect(swapped.has([4, 0, 250, 255], at: 128, 2), "\(swapped[128, 2])")
    #expect(swapped.has([250, 0, 4, 255], at: 128, 157), "\(swapped[128, 157])")
    // One that is not for these values is none.
    let grey = try thumbnail(
      Image.jpeg(Image.sample(as: "jpg", "-colorspace", "gray"), with: 0xE2, profile))
    #expect(grey.has([255, 255, 255, 255], at: 20, 20))
  }

  @Test func pagesAreShown() throws {
    // Its letters are not in it: they are of a font that was there before nothing could be opened any more.
    let letters = try Pixels(
      renderer.page(2, of: PDF.of(["", "Penicillin allergy", ""]), side: 1024))
    #expect(letters.width == 791 && letters.height == 1024)
    #expect(letters.blackCount > 200)
    #expect(try Pixels(renderer.page(1, of: PDF.of(["", "Word"]), side: 1024)).blackCount == 0)
    #expect(renderer.pageCount(of: PDF.of(["", "", ""])) == .bytes(Array("3".utf8)))
    #expect(renderer.page(4, of: PDF.of(["", "", ""]), side: 256) == .nothing)
    #expect(renderer.thumbnail(of: PDF.of([]), side: 256) == .nothing)
    let scan = try thumbnail(PDF.scan(Image.sample(as: "jpg"), width: 640, height: 400))
    #expect(scan.width == 256 && scan.height == 160 && scan.has([128, 0, 128, 255], at: 128, 80))

    let tiff = try Image.convert(["-size", "60x40", "xc:red", "xc:lime", "xc:blue", "tiff:-"])
    #expect(renderer.pageCount(of: tiff) == .bytes(Array("3".utf8)))
    #expect(try Pixels(renderer.page(2, of: tiff, side: 64)).has([0, 255, 0, 255], at: 30, 20))
    #expect(renderer.page(4, of: tiff, side: 64) == .nothing)
    for bytes in [[], [0], Array("Hello, this is no picture".utf8)] {
      #expect(renderer.pageCount(of: bytes) == .nothing)
      #expect(renderer.thumbnail(of: bytes, side: 256) == .nothing)
    }
  }

  @Test func wordsAreJudgedStrictly() throws {
    let program = try Built.path(.images)
    for words in [
      ["thumbnail"], ["thumbnail", "15"], ["thumbnail", "2049"], ["thumbnail", "0256"],
      ["thumbnail", "+256"], ["thumbnail", "256 "], ["thumbnail", "256", "1"], ["thumbnail", "-1"],
      ["page", "1"], ["page", "0", "256"], ["page", "100000", "256"], ["page", "1", "9"],
      ["pages", "1"],
      ["Thumbnail", "256"],
    ] {
      let result = try CommandRunner.run(program, words)
      #expect(result.status == EX_USAGE && result.output == "", "\(words)")
      let usage = "kinvault-render-images page NUMBER SIDE [CENTRE WIDTH] <FILE\n"
      #expect(result.errors.contains(usage))
    }
  }

  // MARK: What is made to do harm

  @Test func whatSaysThatItIsHugeIsRefused() throws {
    let png = try Image.sample(as: "png")
    for (width, height) in [(60_000, 60_000), (200_000_001, 1), (0, 5), (1 << 31 - 1, 1 << 31 - 1)]
    {
      let huge = Image.png(png, declaring: UInt32(width), UInt32(height))
      #expect(renderer.thumbnail(of: huge, side: 256) == .nothing, "\(width)x\(height)")
    }
    var jpeg = try Image.sample(as: "jpg")
    let frame = try #require(
      (2..<jpeg.count - 8).first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 })
    jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFD, 0xE8, 0xFD, 0xE8])
    #expect(renderer.thumbnail(of: jpeg, side: 256) == .nothing)
    var gif = try Image.sample(as: "gif")
    let descriptor = try #require(gif.firstIndex(of: 0x2C))
    gif.replaceSubrange(descriptor + 5..<descriptor + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(renderer.thumbnail(of: gif, side: 256) == .nothing)
    #expect(try thumbnail(png).width == 256)
  }

  /// Much that is packed into little: as much as may be declared, a little more, and much more than is declared.
  @Test func whatUnpacksToMuchEnds() throws {
    let script = """
      import struct, sys, zlib
      def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
      side, count = int(sys.argv[1]), int(sys.argv[2])
      packer = zlib.compressobj(9)
      data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(count)) + packer.flush()
      header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
      sys.stdout.buffer.write(b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header)
        + chunk(b"tEXt", b"a\\0" + bytes(9)) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
      """
    for (side, count, isShown) in [(14_000, 188, true), (14_200, 193, false), (100, 500, true)] {
      let bomb = try CommandRunner.run("python3", ["-c", script, String(side), String(count)])
      try #require(bomb.status == 0, "\(bomb.errors)")
      #expect(bomb.standardOutput.count < 1 << 20)
      let answer = renderer.thumbnail(of: bomb.standardOutput, side: 256)
      #expect(answer != .unavailable && (answer != .nothing) == isShown, "\(side)")
    }
    // A hundred thousand frames and a million, of which the first is shown.
    let gif = try Image.made("-size", "32x32", "xc:red", as: "gif")
    let start = try #require(gif.firstIndex(of: 0x2C))
    let frame = Array(gif[start..<gif.count - 1])
    for count in [100_000, 1_000_000] {
      var film = Array(gif[..<start])
      for _ in 0..<count where film.count + frame.count < 60 << 20 { film += frame }
      #expect(try thumbnail(film + [0x3B]).has([255, 0, 0, 255], at: 16, 16))
    }
  }

  @Test func whatEndsTooEarlyIsShownAsFarAsItGoes() throws {
    let image = try Image.sample(as: "jpg")
    let half = try thumbnail(Array(image[..<(image.count / 2)]))
    #expect(half.width == 256 && half.height == 160 && half.has([255, 255, 255, 255], at: 20, 20))
  }

  @Test(arguments: Image.formats + ["progressive", "pdf"])
  func damageEndsNothingButTheProgram(_ format: String) throws {
    let plasma = ["-size", "64x48", "plasma:"]
    let whole =
      switch format {
      case "progressive": try Image.convert(plasma + ["-interlace", "JPEG", "jpg:-"])
      case "pdf": try PDF.scan(Image.convert(plasma + ["jpg:-"]), width: 64, height: 48)
      default: try Image.convert(plasma + ["\(format):-"])
      }
    _ = try thumbnail(whole)
    var answers: [Bool: Int] = [:]
    Seeds.forEach(Seeds.first(300)) { random in
      let answer = renderer.thumbnail(of: whole.damaged(&random), side: 64)
      #expect(answer != .unavailable, "\(random)")
      answers[answer == .nothing, default: 0] += 1
    }
    if Seeds.first(300).count == 300 { #expect(answers.count == 2, "\(answers)") }
    for end in stride(from: 0, to: whole.count, by: max(1, whole.count / 40)) {
      let bytes = Array(whole[..<end])
      #expect(renderer.thumbnail(of: bytes, side: 64) != .unavailable, "\(end)")
      #expect(renderer.pageCount(of: bytes) != .unavailable, "\(end)")
    }
    _ = try thumbnail(whole)
  }

  // MARK: What a program in its place answers

  private func answer(_ script: String) throws -> (Renderer.Answer, pages: Renderer.Answer) {
    let folder = try TemporaryFolder()
    let path = try folder.program("echo kinvault-render 1\n\(script)")
    let renderer = Renderer { _ in path }
    // It gives back what it gets.
    return (renderer.thumbnail(of: given, side: 64), renderer.pageCount(of: given))
  }

  private var given: [UInt8] { Array("not a picture".utf8) }

  @Test func onlyAPictureOfTheSizeThatWasAskedForIsOne() throws {
    for script in [
      "cat", "exit 0", "echo '<svg onload=alert(1)>'", "printf 'RIFF\\4\\0\\0\\0WEBP'",
    ] {
      let (picture, pages) = try answer(script)
      #expect(picture == .nothing && pages == .nothing, "\(script)")
    }
    for (script, isOne) in [
      ("printf 12", true), ("printf 0", true), ("printf -- -1", false), ("printf 012", false),
      ("printf ' 1'", false), ("printf 99999999999999999999", false),
    ] { #expect(try (answer(script).pages != .nothing) == isOne, "\(script)") }
    let folder = try TemporaryFolder()
    for (size, isOne) in [("64x64", true), ("64x65", false), ("65x2", false), ("1x1", true)] {
      for kind in ["false", "true"] {
        let path = folder.appending("picture").string
        _ = try CommandRunner.run(
          "convert", ["-size", size, "plasma:", "-define", "webp:lossless=\(kind)", "webp:\(path)"])
        #expect(try (answer("cat '\(path)'").0 != .nothing) == isOne, "\(size) \(kind)")
        #expect(try answer("cat '\(path)'; printf x").0 == .nothing)
        #expect(try answer("head -c 33 '\(path)'").0 == .nothing)
      }
    }
    // With something beside it, or moving, it is not what was asked for.
    let exif = Image.jpeg(
      try Image.made("-size", "8x8", "xc:red", as: "jpg"), with: 0xE1,
      Image.exif(orientation: 1, "place"))
    let path = folder.appending("picture").string
    _ = try CommandRunner.run("convert", ["jpg:-", "webp:\(path)"], input: exif)
    #expect(try answer("cat '\(path)'").0 == .nothing)
  }
}

extension [UInt8] {
  /// With a few bytes changed, missing or twice.
  func damaged(_ random: inout SplitMix64) -> [UInt8] {
    var bytes = self
    for _ in 0...Int.random(in: 0..<6, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      let length = Swift.min(Int.random(in: 1..<100, using: &random), bytes.count - place)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: bytes[place] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      case 2: bytes[place] = [0, 0x7F, 0x80, 0xFF].randomElement(using: &random) ?? 0
      case 3: bytes.removeSubrange(place..<place + length)
      case 4: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
      // Headers, where sizes and kinds stand.
      default: bytes[Swift.min(place, place % 64)] = UInt8.random(in: 0...255, using: &random)
      }
      if bytes.isEmpty { bytes = [0] }
    }
    return bytes
  }
}
