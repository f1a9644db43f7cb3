import Places
import SystemPackage
import Testing

/// Whole folders, compared.
enum Trees {
  /// A line for each file below `folder`: its SHA-256 and its path, sorted.
  static func digests(of folder: FilePath) throws -> [String] {
    try Command(
      ["sh", "-c", "find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum"], in: folder
    ).succeed().split(separator: "\n").map(String.init)
  }

  /// A line for each entry below `folder`: kind, permissions, time to the nanosecond, size, links, target, path; sorted.
  ///
  /// A directory's size and number of links are the file system's own business and left out.
  static func details(of folder: FilePath) throws -> [String] {
    let format = #"%y %m %T@ %s %n %l %P\0"#
    let script = """
      find . -mindepth 1 -type d -printf '%y %m %T@ %P\\0' -o -mindepth 1 -printf '\(format)' |
        LC_ALL=C sort -z | tr '\\n\\0' '?\\n'
      """
    return try Command(["sh", "-c", script], in: folder).succeed().split(separator: "\n").map(
      String.init)
  }

  /// Expects two folders to hold the same, down to permissions and times.
  static func expectSame(
    _ found: FilePath, _ wanted: FilePath, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let digests = try (digests(of: found), digests(of: wanted))
    #expect(difference(digests.0, digests.1) == [], sourceLocation: sourceLocation)
    #expect(!digests.0.isEmpty, "nothing to compare", sourceLocation: sourceLocation)
    let details = try (details(of: found), details(of: wanted))
    #expect(difference(details.0, details.1) == [], sourceLocation: sourceLocation)
  }

  /// The first lines that only one of the two has.
  private static func difference(_ found: [String], _ wanted: [String]) -> [String] {
    let only = Set(found).symmetricDifference(wanted)
    return Array(
      (found.filter(only.contains).map { "found  \($0)" }
        + wanted.filter(only.contains).map { "wanted \($0)" })
        .prefix(10))
  }

  /// Makes a folder of everything that a file system can keep, on the plain disk.
  static func makeSample(in folder: FilePath) throws {
    let source = try TestFolder.shared.fresh("random").appending("bytes")
    try source.write(SeededRandom.bytes(3_000_000))
    try Command(
      [
        "sh", "-ec",
        """
        mkdir -p 'Visits/2024 小児科' 'deep/a/b/c/d/e/f' empty
        printf 'plain\\n' >plain.txt
        : >nothing
        head -c 1048575 "$0" >below-a-chunk; head -c 1048576 "$0" >a-chunk; head -c 1048577 "$0" >above-a-chunk
        head -c 3000000 "$0" >'Visits/2024 小児科/scan one.jpg'
        truncate -s 5000000 sparse; printf end >>sparse
        printf '#!/bin/sh\\necho hello\\n' >run; chmod 755 run
        printf secret >private; chmod 600 private; printf fixed >read-only; chmod 444 read-only
        ln plain.txt second-name; ln plain.txt deep/a/third-name
        ln -s plain.txt link; ln -s /nowhere/at/all dangling; ln -s ../.. deep/a/up
        printf odd >"$(printf 'bytes-\\377-\\n-name')"; printf dash >./-dash
        chmod 1777 empty; chmod 750 deep
        setfattr -n user.comment -v 'first visit' plain.txt
        find . -exec touch -h -d '2021-03-04 05:06:07.123456789' {} +
        touch -d '1969-12-31 12:00:00.5 UTC' nothing
        """, source.string,
      ], in: folder
    ).succeed()
  }
}
