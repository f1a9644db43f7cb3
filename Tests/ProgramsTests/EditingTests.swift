import Glibc
import Places
import SystemPackage
import Testing

/// Editors, and the ways in which they save.
@Suite struct EditingTests {
  @Test(arguments: Place.all, ["yes", "no", "auto,breakhardlink"])
  func vimSaves(place: Place, backupCopy: String) throws {
    try place.withFolder { folder in
      let path = folder.appending("record.md")
      try path.write("---\ntype: visit\n---\nold text\n")
      try path.changeMode(0o640)
      for round in 1...5 {
        try Command(
          [
            "vim", "-u", "NONE", "-i", "NONE", "-es", "-c",
            "set backup writebackup backupskip= backupcopy=\(backupCopy)",
            "-c", "normal Goround \(round)", "-c", "wq", path.string,
          ], environment: ["TERM": "dumb"]
        ).succeed()
      }
      let lines = try path.text().split(separator: "\n").map(String.init)
      #expect(lines == ["---", "type: visit", "---", "old text"] + (1...5).map { "round \($0)" })
      #expect(try path.status().permissions == 0o640)
      #expect(try folder.textNames() == ["record.md", "record.md~"])
    }
  }

  @Test(arguments: Place.all)
  func sedEditsInPlace(place: Place) throws {
    try place.withFolder { folder in
      let path = folder.appending("record.md")
      try path.write("lot: EX0417\nsite: left arm\n")
      try path.changeMode(0o600)
      for round in 0..<20 {
        try Command(["sed", "-i", "s/^lot: .*/lot: EX\(round)/", path.string]).succeed()
      }
      #expect(try path.text() == "lot: EX19\nsite: left arm\n")
      #expect(try path.status().permissions == 0o600)
      #expect(try folder.textNames() == ["record.md"])
      try Command(["sed", "-i.bak", "s/left/right/", path.string]).succeed()
      #expect(try folder.appending("record.md.bak").text().contains("left"))
    }
  }

  @Test(arguments: Place.all)
  func shellsAppendAndReplace(place: Place) throws {
    try place.withFolder { folder in
      try Command(
        [
          "bash", "-ec",
          """
          set -o noclobber
          echo one >file
          if echo two >file 2>/dev/null; then exit 9; fi
          set +o noclobber
          echo two >>file
          cat file file >both
          tee -a both <<<three >/dev/null
          dd if=both of=part bs=3 skip=1 count=2 status=none
          truncate -s 4 file
          install -m 700 both installed
          split -b 5 both piece-
          cat piece-* | cmp - both
          """,
        ], in: folder
      ).succeed()
      #expect(try folder.appending("both").text() == "one\ntwo\none\ntwo\nthree\n")
      #expect(try folder.appending("part").text() == "\ntwo\no")
      #expect(try folder.appending("file").text() == "one\n")
    }
  }

  @Test(arguments: Place.all)
  func pythonWritesThroughAMapping(place: Place) throws {
    try place.withFolder { folder in
      try Command(
        [
          "python3", "-c",
          """
          import mmap, os, tempfile
          with open("mapped", "w+b") as file:
              file.truncate(3 << 20)
              with mmap.mmap(file.fileno(), 0) as shared:
                  shared[0:5] = b"begin"
                  shared[(1 << 20) - 2:(1 << 20) + 2] = b"edge"
                  shared[-3:] = b"end"
                  shared.flush()
          with open("mapped", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as shared:
              assert shared.find(b"edge") == (1 << 20) - 2
              assert shared[-3:] == b"end" and shared[:5] == b"begin"
          # The save dance of the standard library's users.
          for version in range(30):
              with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
                  file.write(f"version {version}")
                  file.flush()
                  os.fsync(file.fileno())
              os.replace(file.name, "saved")
          assert open("saved").read() == "version 29"
          assert sorted(os.listdir(".")) == ["mapped", "saved"]
          """,
        ], in: folder
      ).succeed()
    }
  }
}
