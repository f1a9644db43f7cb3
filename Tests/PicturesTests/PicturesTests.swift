import MachineState
import Pictures
import Rendering
import SystemPackage
import TestSupport
import Testing
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Vault

/// Pictures of attached files: made once, and kept.
@Suite struct PicturesTests {
  private let folder: TemporaryFolder
  private let created: CreatedVault

  init() throws {
    folder = try TemporaryFolder()
    created = try Vault.create(
      .make(in: folder.appending("vault"), stateRoot: folder.appending("state")),
      device: NewDevice(
        personName: "Adult A", deviceName: "desk", deviceKind: "desktop", passwordCost: .floor,
        recoveryCost: .floor), password: SecretBytes(copying: Array("correct horse".utf8)))
    let vault = try open()
    _ = try vault.addMember(named: #require(FileName("Emma")))
    try vault.close()
  }

  private func open() throws -> Vault {
    try Vault.open(
      .find(in: folder.appending("vault"), stateRoot: folder.appending("state")),
      key: created.unlockKey)
  }

  private func member(of vault: Vault) throws -> Member { try #require(vault.members.first) }

  private func item(
    _ name: String, _ content: Item.Content, size: UInt64 = 5, type: String = ""
  ) throws -> Item {
    Item(
      name: try #require(FileName(name)), file: .random(), size: size, mediaType: type,
      content: content, time: .zero)
  }

  private func attached(_ content: Item.Content, size: UInt64 = 5) throws -> Item {
    try item("scan.jpg", content, size: size)
  }

  /// A WebP of one pixel.
  private static let picture: [UInt8] = [
    0x52, 0x49, 0x46, 0x46, 0x1A, 0, 0, 0, 0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38, 0x4C, 0x0D, 0,
    0,
    0, 0x2F, 0, 0, 0, 0x10, 0x07, 0x10, 0x11, 0x11, 0x88, 0x88, 0xFE, 0x07, 0,
  ]

  /// A program that notes each time that it is run, and with which words.
  private func renderer(_ script: String? = nil) throws -> Renderer {
    let octal = Self.picture.map { "\\" + String(Int(String($0, radix: 8)) ?? 0) }.joined()
    let answer = "case $1 in pages) printf 12;; *) printf '\(octal)';; esac"
    let path = try folder.program(
      "echo \"$*\" >>'\(log)'\necho kinvault-render 1\n\(script ?? answer)")
    return Renderer { _ in path }
  }

  private var log: String { folder.appending("log").string }

  private var runs: [String] {
    get throws {
      try CommandRunner.run("cat", [log]).output.split(separator: "\n").map(String.init)
    }
  }

  @Test func aFileHasAPictureByItsTypeOrItsName() throws {
    let content = Item.Content.inline([1])
    for name in [
      "a.jpg", "B.JPEG", "x.jpe", "a.png", "a.webp", "a.gif", "a.tif", "a.TIFF", "IMG_1.HEIC",
      "a.heif",
    ] { #expect(try PictureForm(of: item(name, content)) == .image, "\(name)") }
    #expect(try PictureForm(of: item("Report.PDF", content)) == .pdf)
    #expect(try PictureForm(of: item("1.2.840.DCM", content)) == .dicom)
    #expect(try PictureForm(of: item("IM1", content, type: "application/dicom")) == .dicom)
    #expect(try PictureForm(of: item("scan", content, type: "image/png")) == .image)
    #expect(try PictureForm(of: item("scan", content, type: "application/pdf")) == .pdf)
    for name in ["jpg", "a.svg", "a.txt", "a.jpg.", "IM000001", "record.md"] {
      #expect(try PictureForm(of: item(name, content)) == nil, "\(name)")
    }
    #expect(try PictureForm(of: item("a", content, type: "image/svg+xml")) == nil)
    #expect(try PictureForm(of: item("a.jpg", .none)) == nil)
    #expect(try PictureForm(of: item("a.jpg", .symlink([0x62]))) == nil)
  }

  /// As they lie on a patient's disc.
  @Test func whatAFileWithoutATypeIsStandsInIt() throws {
    let vault = try open()
    let member = try member(of: vault)
    let pictures = Pictures(try renderer())
    let dicom = [UInt8](repeating: 0, count: 128) + Array("DICM".utf8) + [1]
    for (name, bytes, form) in [
      ("IM000001", dicom, .dicom), ("1.2.840.113619.2.55", dicom, .dicom),
      ("IM000001", Array(dicom[..<131]), nil), ("README", Array("Hello".utf8), nil),
      ("a.txt", dicom, nil), ("a.png", dicom, .image),
    ] as [(String, [UInt8], PictureForm?)] {
      let file = try item(name, .inline(bytes), size: UInt64(bytes.count))
      #expect(try pictures.form(of: file, of: member) == form, "\(name)")
      let expected: Pictures.Found<[UInt8]> = form == nil ? .nothing : .here(Self.picture)
      #expect(try pictures.picture(.small, of: file, of: member) == expected, "\(name)")
    }
    let typed = try item("IM1", .inline(dicom), size: UInt64(dicom.count), type: "text/plain")
    #expect(try pictures.form(of: typed, of: member) == nil)
    let missing = try item("IM000002", .chunks([.random()]), size: 70)
    #expect(try pictures.form(of: missing, of: member) == nil)
    #expect(try pictures.picture(.small, of: missing, of: member) == .lacking(nil))
    // They have one content, and the others were not given to it.
    #expect(try runs == ["thumbnail 256"])
  }

  @Test func windowsAndHeadersAreKept() throws {
    let vault = try open()
    let member = try member(of: vault)
    let slice = try item("IM1.dcm", .inline(Array("whole".utf8)))
    let window = try #require(GreyWindow(centre: -600, width: 1500))
    let view = try #require(PictureView.frame(2, side: 1024, window: window))
    #expect(PictureView.frame(2, side: 1000, window: window) == nil)
    #expect(PictureView.frame(0, side: 1024, window: window) == nil)
    let octal = Self.picture.map { "\\" + String(Int(String($0, radix: 8)) ?? 0) }.joined()
    let answer = "case $1 in meta) printf 'modality CT\\n';; *) printf '\(octal)';; esac"
    let pictures = Pictures(try renderer(answer))
    for _ in 0..<2 {
      #expect(try pictures.picture(view, of: slice, of: member) == .here(Self.picture))
      guard case .here(let header) = try pictures.header(ofDICOM: slice, of: member) else {
        Issue.record("there is no header")
        return
      }
      #expect(header.modality == "CT" && header.pixels == nil)
    }
    #expect(try runs == ["page 2 1024 -600.0 1500.0", "meta"])
  }

  @Test func onlySomeViewsCanBeAskedFor() {
    #expect(PictureView.page(1, side: 1600) != nil && PictureView.page(99_999, side: 1024) != nil)
    for (number, side) in [(0, 1024), (-1, 1024), (100_000, 1024), (1, 256), (1, 1601), (1, 0)] {
      #expect(PictureView.page(number, side: side) == nil)
    }
  }

  @Test func eachViewOfAContentIsMadeOnce() throws {
    let page = try #require(PictureView.page(3, side: 1280))
    let scan = try attached(.inline(Array("whole".utf8)))
    do {
      let vault = try open()
      let pictures = Pictures(try renderer())
      for _ in 0..<2 {
        for view in [.small, .large, page] {
          #expect(
            try pictures.picture(view, of: scan, of: member(of: vault)) == .here(Self.picture))
        }
        #expect(try pictures.pageCount(of: scan, of: member(of: vault)) == .here(12))
      }
      try vault.close()
    }
    // Another process finds it, also without what makes it, and whatever the file is called.
    let vault = try open()
    let other = try item("Front page.pdf", scan.content)
    for view in [PictureView.small, .large, page] {
      let found = try Pictures(nil).picture(view, of: other, of: member(of: vault))
      #expect(found == .here(Self.picture))
    }
    #expect(try runs == ["thumbnail 256", "thumbnail 1024", "page 3 1280", "pages"])
    // Of another content it is another one.
    let second = try attached(.inline(Array("other".utf8)))
    #expect(
      try Pictures(nil).picture(.small, of: second, of: member(of: vault)) == .unavailable)
    let words = ["-r", "-l", "-a", "WEBP", folder.appending("state").string]
    #expect(try CommandRunner.run("grep", words).status == 1)
  }

  @Test func thatThereIsNoneIsKeptToo() throws {
    let vault = try open()
    let member = try member(of: vault)
    let scan = try attached(.inline(Array("whole".utf8)))
    let pictures = Pictures(try renderer("exit 65"))
    for _ in 0..<2 {
      #expect(try pictures.picture(.small, of: scan, of: member) == .nothing)
      #expect(try pictures.pageCount(of: scan, of: member) == .nothing)
    }
    #expect(try runs == ["thumbnail 256", "pages"])
    // These are not even given to it.
    for other in [
      try item("a.txt", scan.content), try attached(scan.content, size: UInt64(64 << 20) + 1),
      try attached(.none, size: 0),
    ] { #expect(try pictures.picture(.large, of: other, of: member) == .nothing) }
    #expect(try runs.count == 2)
  }

  @Test func whatCannotBeTriedIsNotKept() throws {
    let vault = try open()
    let member = try member(of: vault)
    let scan = try attached(.inline(Array("whole".utf8)))
    let missing = try attached(.chunks([.random()]), size: 70)
    for renderer in [nil, Renderer { _ in "/nonexistent" }, try renderer("kill -TERM $$")] {
      #expect(try Pictures(renderer).picture(.small, of: scan, of: member) == .unavailable)
    }
    let pictures = Pictures(try renderer())
    #expect(try pictures.picture(.small, of: scan, of: member) == .here(Self.picture))
    for _ in 0..<2 {
      #expect(try pictures.picture(.small, of: missing, of: member) == .lacking(nil))
    }
    #expect(try runs.count == 2)
  }

  @Test func whatIsElsewhereIsNamed() throws {
    let state = try StateFolder.open(root: folder.appending("state"), vault: open().id)
    try state.storeLazySettings(LazySettings())
    let vault = try open()
    let chunk = ContentDigest.random()
    let away = try attached(.chunks([chunk]), size: 70)
    let pictures = Pictures(try renderer())
    let member = try member(of: vault)
    #expect(try pictures.picture(.small, of: away, of: member) == .lacking(chunk))
    #expect(try pictures.pageCount(of: away, of: member) == .lacking(chunk))
    // Nobody is there whom it could be asked of.
    #expect(throws: VaultError.self) {
      try pictures.picture(.small, of: away, of: member, fetching: true)
    }
    #expect(try runs.isEmpty)
  }

  @Test func whoAsksMeanwhileWaitsForIt() throws {
    let vault = try open()
    let member = try member(of: vault)
    let scan = try attached(.inline(Array("whole".utf8)))
    let other = try attached(.inline(Array("other".utf8)))
    let octal = Self.picture.map { "\\" + String(Int(String($0, radix: 8)) ?? 0) }.joined()
    let pictures = Pictures(try renderer("sleep 0.3; printf '\(octal)'"))
    try Threads.run(8) { number in
      let item = number % 2 == 0 ? scan : other
      let found = try pictures.picture(.small, of: item, of: member)
      #expect(found == .here(Self.picture))
    }
    #expect(try runs == ["thumbnail 256", "thumbnail 256"])
  }
}
