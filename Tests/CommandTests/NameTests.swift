import FoundationEssentials
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import kinvault

/// Names of any bytes, through import, export and listing.
@Suite struct NameTests {
  static let names: [[UInt8]] = [
    Array("-rf".utf8), Array("--help".utf8), Array("...".utf8), Array("new\nline\tand tab".utf8),
    Array("a\\b*?\"'$`|<>:".utf8), Array("\u{1}\u{7f}\u{1b}[2J".utf8), Array("لقاح.pdf".utf8),
    Array("👩‍👩‍👧‍👦💉.png".utf8), Array("e\u{301}".utf8), Array("\u{e9}".utf8),
    Array("\u{202e}fdp.exe".utf8),
    [0xff], [0xc3, 0x28], Array("Caf".utf8) + [0xe9], Array("Caf".utf8) + [0xe8],
    [UInt8](repeating: UInt8(ascii: "n"), count: 255), [UInt8](repeating: 0xfe, count: 255),
  ]

  private func path(_ parts: [UInt8]...) -> [CChar] {
    Array(parts.joined(separator: [UInt8(ascii: "/")])).map { CChar(bitPattern: $0) } + [0]
  }

  /// A folder with a file and a folder of every name, the folders with a file of that name in them.
  private func makeDisc(in folder: String) throws -> String {
    let disc = "\(folder)/disc"
    for part in ["", "/files", "/folders"] { mkdir(disc + part, 0o755) }
    for name in Self.names {
      let inner = path(Array("\(disc)/folders".utf8), name)
      try #require(mkdir(inner, 0o750) == 0)
      for file in [
        path(Array("\(disc)/files".utf8), name), path(Array("\(disc)/folders".utf8), name, name),
      ] {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL, 0o640)
        try #require(descriptor >= 0 && write(descriptor, name, name.count) == name.count)
        close(descriptor)
      }
    }
    link(path(Array("\(disc)/files".utf8), [0xff]), path(Array("\(disc)/folders".utf8), [0xfe]))
    symlink(path([0xff]), path(Array("\(disc)/files".utf8), [0xfd]))
    return disc
  }

  @Test func anyNameIsTakenInListedAndWrittenOut() throws {
    let program = try Program.withVault()
    let disc = try makeDisc(in: program.folder.path.string)
    try program.run("attach", "Emma", disc, expecting: 0)
    let out = program.folder.appending("out").string
    try program.run("export", "Emma/disc", out, "--yes", expecting: 0)
    let same = try CommandRunner.run("diff", ["-r", "--no-dereference", disc, out])
    #expect(same.status == 0, "\(same.output)\(same.errors)")

    struct Row: Decodable {
      var path: String
      var pathBytes: String?
    }
    let list = try program.run("record", "list", "--all", "--json", expecting: 0)
    let rows = try JSONDecoder().decode([Row].self, from: Data(list.standardOutput))
    let listed = Set(
      rows.map { row in row.pathBytes.flatMap(Self.bytes) ?? Array(row.path.utf8) })
    for name in Self.names {
      #expect(listed.contains(Array("Emma/disc/folders/".utf8) + name), "\(name)")
    }
    let text = try program.run("record", "list", "--all", expecting: 0)
    #expect(!text.standardOutput.contains(0x1b) && !text.output.contains("\u{202e}"))
    let check = try program.run("check", "--read-data", expecting: 0)
    #expect(check.output.contains("Everything is whole."))
  }

  private static func bytes(hex: String) -> [UInt8]? {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).reduce(into: [UInt8]?.some([])) { result, at in
      guard let byte = UInt8(String(digits[at..<min(at + 2, digits.count)]), radix: 16) else {
        return result = nil
      }
      result?.append(byte)
    }
  }

  @Test func namesThatAreNoTextAreArguments() throws {
    let program = try Program.withVault()
    let script = """
      set -e
      cd "$HOME"
      a=$(printf 'Caf\\351') b=$(printf 'Caf\\350')
      echo acute >"$a"; echo grave >"$b"
      mkdir "folder $a"; echo in >"folder $a/$b"
      "$0" attach Emma "$a" "$b" "folder $a"
      "$0" export "Emma/folder $a" "out $b" --yes
      cmp "folder $a/$b" "out $b/$b"
      "$0" record show "Emma/folder $a" --json
      "$0" record add --member Emma --title t --type note --date 2025-01-01 --attach="$a" --attach "$b"
      "$0" export "Emma/Notes/2025-01-01 t" notes --yes
      cmp "$a" "notes/$a"
      cmp "$b" "notes/$b"
      """
    let result = try CommandRunner.run(
      "bash", ["-c", script, try Program.executable], environment: program.environment)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("\"nameBytes\" : \"436166e8\""))
  }

  @Test func namesThatReadAlikeStandForOneAfterTheOther() {
    let words: [[UInt8]] = [
      Array("attach".utf8), Array("x".utf8), [0x61, 0xff], [0x61, 0xfe],
      Array("--attach=".utf8) + [0x62, 0xff], Array("a\u{FFFD}".utf8),
    ]
    let both = ArgumentBytes.of(["a\u{FFFD}", "x", "a\u{FFFD}", "b\u{FFFD}"], words: words)
    #expect(both == [[0x61, 0xff], Array("x".utf8), [0x61, 0xfe], [0x62, 0xff]])
    #expect(ArgumentBytes.of(["\u{FFFD}"], words: words) == [Array("\u{FFFD}".utf8)])
  }
}
