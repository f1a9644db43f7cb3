import Glibc
import SystemPackage

extension TemporaryFolder {
  /// A program of this folder that the shell runs; one that was there before is no more.
  ///
  /// A program writes it: a child that another test begins while this process has the file open for writing keeps it from being
  /// run ("text file busy").
  ///
  /// - Returns: Its path.
  package func program(_ script: String) throws -> String {
    let path = appending("program").string
    let written = try CommandRunner.run(
      "sh", ["-c", "rm -f \"$1\" && cat >\"$1\" && chmod 700 \"$1\"", "sh", path],
      input: Array("#!/bin/sh\n\(script)\n".utf8))
    guard written.status == 0 else { throw CommandError(program: path, errno: EIO) }
    return path
  }
}
