import Glibc
import SystemPackage
import TestSupport

/// A whole machine with one disk, whose power goes each time its script has ended: user-mode Linux, whose kernel has file
/// systems that the one here may lack.
final class SmallMachine {
  private static let sources = FilePath(#filePath).removingLastComponent()
  private static let start = sources.appending("machine.sh")

  private let folder: TemporaryFolder
  private let fileSystem: String
  private var image: FilePath { folder.appending("disk") }
  private var processorState: FilePath { folder.appending("processor-state.so") }

  /// - Parameter fileSystem: What `mkfs.<fileSystem>` makes.
  init(fileSystem: String, megabytes: Int) throws {
    folder = try TemporaryFolder()
    self.fileSystem = fileSystem
    try run(
      "clang",
      [
        "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", processorState.string,
        Self.sources.appending("processor-state.c").string,
      ])
    try run("truncate", ["-s", "\(megabytes)M", image.string])
    try run("/usr/sbin/mkfs.\(fileSystem)", [image.string])
  }

  /// A path that the script sees as well, and that survives the machine.
  func outside(_ name: String) -> FilePath { folder.appending(name) }

  /// Names on a disk with FAT that stand for what is free or another name's too, as `fsck.vfat` says it; it repairs
  /// nothing. A machine that goes on with such a disk may take the content of one file with the name of another.
  func namesOfWhatIsNotTheirs() throws -> [String] {
    let found = try CommandRunner.run("/usr/sbin/fsck.vfat", ["-n", image.string])
    guard found.output.contains(" clusters") else {
      throw CommandFailure(description: "fsck.vfat: \(found.end)\n\(found.output)\(found.errors)")
    }
    let lines = found.output.split(separator: "\n")
    return zip(lines, lines.dropFirst()).compactMap { path, flaw in
      ["ontains a free cluster", "hare clusters", "hares clusters"].contains { flaw.contains($0) }
        ? "\(path): \(flaw)" : nil
    }
  }

  /// Starts the machine, runs a shell script, and takes the power away in the instant in which it ends.
  ///
  /// - Returns: What the script printed.
  /// - Throws: If it fails. The script ends with the first of its commands that does.
  @discardableResult
  func runUntilPowerCut(_ script: String) throws -> String {
    let (path, output, status) = (outside("script"), outside("output"), outside("status"))
    _ = try CommandRunner.run("tee", [path.string], input: Array("\(script)\n".utf8))
    try run("rm", ["-f", output.string, status.string])
    let kernel = try CommandRunner.run(
      "linux.uml",
      [
        "mem=768M", "rootfstype=hostfs", "rootflags=/", "rw", "con=null", "con0=null",
        "uml_dir=\(outside("uml"))", "ubda=\(image)", "init=\(Self.start)", "type=\(fileSystem)",
        "script=\(path)", "output=\(output)", "status=\(status)",
      ],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LD_PRELOAD": processorState.string],
      timeout: .seconds(900))
    let printed = try CommandRunner.run("cat", [output.string]).output
    guard try CommandRunner.run("cat", [status.string]).output == "0\n" else {
      throw CommandFailure(
        description: "the small machine: \(kernel.end)\n\(printed)\n"
          + "\(kernel.output.suffix(2000))\n\(kernel.errors.suffix(2000))")
    }
    return printed
  }
}
