import Places
import SystemPackage
import Testing

/// LibreOffice without a window, at work on documents where they lie. One at a time: it takes a while to start.
@Suite(.serialized) struct LibreOfficeTests {
  private static let script = FilePath(#filePath).removingLastComponent().appending(
    "libreoffice.py")

  @Test(arguments: Place.all)
  func convertsAndSavesInPlace(place: Place) throws {
    let profile = try TestFolder.shared.fresh("libreoffice")
    try place.withFolder { folder in
      try folder.appending("letter.txt").write("Dear Dr. Novák,\n")
      func convert(_ file: String, to format: String) throws {
        try Command(
          [
            "soffice", "--headless", "-env:UserInstallation=file://\(profile)", "--convert-to",
            format, file,
          ], in: folder
        ).succeed()
      }
      try convert("letter.txt", to: "odt")
      let list = try Command(["unzip", "-t", "letter.odt"], in: folder).succeed()
      #expect(list.contains("content.xml"))

      // Debian's own Python has LibreOffice's module.
      let seen = try Command(
        ["/usr/bin/python3", "-B", Self.script.string, "letter.odt", profile.string], in: folder
      ).succeed()
      let text = "Dear Dr. Novák, First. Twice First. Second. Twice Second. Third. Twice Third."
      #expect(seen.split(separator: "\n").last.map(String.init) == text)
      #expect(try folder.textNames() == ["letter.odt", "letter.txt"], "nothing is left behind")

      try convert("letter.odt", to: "pdf")
      // Over what is there.
      try convert("letter.odt", to: "pdf")
      let pdf = try Command(["pdftotext", "letter.pdf", "-"], in: folder).succeed()
      #expect(pdf.split(whereSeparator: \.isWhitespace).joined(separator: " ") == text)
    }
  }
}
