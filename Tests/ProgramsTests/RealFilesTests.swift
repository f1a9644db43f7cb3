import Places
import SystemPackage
import Testing

/// Files that no one here wrote, opened in the place by the programs that people open them with.
@Suite struct RealFilesTests {
  @Test(arguments: Place.all)
  func scansAreTheSameToTheByteAndToEveryProgram(place: Place) throws {
    try place.withFolder { folder in
      let scans = try Repository.scans
      try Command(["cp", "-r", scans.string, folder.appending("scans").string]).succeed()
      let copy = folder.appending("scans")
      #expect(try Trees.digests(of: copy) == Trees.digests(of: scans))
      #expect(
        try Command(["sh", "-c", "file --brief --mime-type *"], in: copy).succeed()
          == Command(["sh", "-c", "file --brief --mime-type *"], in: scans).succeed())
      #expect(
        try Command(["sh", "-c", "file --brief --mime-type *"], in: copy).succeed()
          .contains("image/jpeg"))
    }
  }

  @Test(arguments: Place.all)
  func pdfsCanBeRead(place: Place) throws {
    try place.withFolder { folder in
      let scans = try Repository.scans
      var pages = 0
      for name in ["multipage.pdf", "francais.pdf", "toc.pdf", "graph_ocred.pdf", "tagged.pdf"] {
        let (inside, outside) = (folder.appending(name), scans.appending(name))
        try Command(["cp", outside.string, inside.string]).succeed()
        let text = try Command(["pdftotext", inside.string, "-"]).succeed()
        #expect(text == (try Command(["pdftotext", outside.string, "-"]).succeed()), "\(name)")
        pages += text.filter { $0 == "\u{0C}" }.count
        try Command([
          "pdftoppm", "-r", "20", "-l", "1", "-png", inside.string, folder.appending("page").string,
        ])
        .succeed()
      }
      #expect(pages >= 10)
      #expect(try folder.textNames().filter { $0.hasPrefix("page") }.isEmpty == false)
    }
  }

  @Test(arguments: Place.all)
  func picturesCanBeReadAndMade(place: Place) throws {
    try place.withFolder { folder in
      let scans = try Repository.scans
      for name in ["baiona_color.jpg", "baiona_gray.png", "typewriter.png", "linn.png"] {
        let (inside, outside) = (folder.appending(name), scans.appending(name))
        try Command(["cp", outside.string, inside.string]).succeed()
        let format = ["identify", "-format", "%m %w %h %#"]
        #expect(
          try Command(format + [inside.string]).succeed()
            == Command(format + [outside.string]).succeed(),
          "\(name)")
        try Command([
          "convert", inside.string, "-resize", "200x200", folder.appending("small " + name).string,
        ])
        .succeed()
        try Command(["mogrify", "-rotate", "90", folder.appending("small " + name).string])
          .succeed()
        try Command(["identify", folder.appending("small " + name).string]).succeed()
      }
    }
  }

  /// A disc as a hospital hands it out: all files copied in as they are, read, one changed and saved.
  @Test(arguments: Place.all)
  func dicomFilesCanBeReadAndSaved(place: Place) throws {
    try place.withFolder { folder in
      let said = try Command(
        [
          try Repository.python.string, "-c",
          """
          import hashlib, pathlib, shutil, sys
          import pydicom
          from pydicom.errors import InvalidDicomError
          source = pathlib.Path(pydicom.__file__).parent / "data" / "test_files"
          files = sorted(path for path in source.rglob("*.dcm"))
          read = 0
          for number, path in enumerate(files):
              copy = pathlib.Path(f"{number:03} {path.name}")
              shutil.copy2(path, copy)
              assert hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(path.read_bytes()).digest()
              assert copy.stat().st_mtime_ns == path.stat().st_mtime_ns
              try:
                  dataset = pydicom.dcmread(copy)
                  assert str(dataset) == str(pydicom.dcmread(path)), path
              except InvalidDicomError:
                  continue
              read += 1
          first = pydicom.dcmread("000 " + files[0].name)
          first.PatientName = "Test^Emma"
          first.save_as("saved.dcm")
          assert pydicom.dcmread("saved.dcm").PatientName == "Test^Emma"
          assert read > 50, read
          print(read)
          """,
        ], in: folder
      ).succeed()
      print("\(place): \(said.split(separator: "\n").last ?? "no") DICOM files read with pydicom")
    }
  }
}
