import Foundation
import SystemPackage
import TestSupport
import Testing

/// `kinvault attach`, beside what others do at the same time.
@Suite struct AttachCommandTests {
  /// Whether the program has a file of this name open.
  private func isReading(_ name: String, _ program: RunningCommand) -> Bool {
    let folder = "/proc/\(program.processID)/fd"
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.contains { file in
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(file)")
      return target?.hasSuffix("/\(name)") ?? false
    }
  }

  @Test func aFileThatIsNotThereIsNamed() throws {
    let program = try Program.withVault()
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Visit", "--date", "2025-01-20", expecting: 0)
    let missing = program.folder.appending("missing.jpg").string
    for path in [missing, "\(program.passwordFile)/card.jpg"] {
      let told = try program.run("attach", "Emma/Notes/2025-01-20 Visit", path, expecting: 6)
      #expect(told.errors.contains("There is no file or folder \(path)"), "\(told.errors)")
      #expect(!told.errors.contains("stat"), "\(told.errors)")
    }
    let empty = try program.run("attach", "Emma/Notes/2025-01-20 Visit", "", expecting: 2)
    #expect(empty.errors.contains("is empty"), "\(empty.errors)")
  }

  /// The rest of its folder is in, and whoever deletes the plain one knows what is not.
  @Test func whatChangesAllTheTimeIsLeftOutOfItsFolderAndNamed() throws {
    let program = try Program.withVault()
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Visit", "--date", "2025-01-20", expecting: 0)
    let folder = program.folder.appending("disc").string
    #expect(mkdir(folder, 0o700) == 0)
    try program.write("scan", to: "\(folder)/scan.txt")
    // Large, so that something is surely written while it is read, and mostly holes.
    let log = "\(folder)/log"
    try program.write("", to: log)
    let size: off_t = 256 << 20
    #expect(truncate(log, size) == 0)
    let writer = try RunningCommand("sh", ["-c", "while :; do echo x >> \"$0\"; done", log])
    var status = stat()
    while stat(log, &status) == 0, status.st_size == size { usleep(1000) }
    let record = "Emma/Notes/2025-01-20 Visit"
    let attaching = try Machine(first: program).start("attach", record, folder)
    while !attaching.hasEnded() {
      if isReading("log", attaching) {
        // However busy the machine is, it goes on once the writer had its turn.
        attaching.signal(SIGSTOP)
        let before = status.st_size
        while stat(log, &status) == 0, status.st_size == before { usleep(1000) }
        attaching.signal(SIGCONT)
      }
      usleep(2000)
    }
    let told = attaching.wait()
    #expect(told.status == 1)
    writer.signal(SIGKILL)
    _ = writer.wait()
    #expect(told.output.contains("Attached"), "\(told.output)\(told.errors)")
    #expect(told.errors.contains(log) && told.errors.contains("1 file or folder was left out"))
    let copy = program.folder.appending("copy").string
    try program.run("export", record, copy, "--yes", expecting: 0)
    #expect(try program.read("\(copy)/disc/scan.txt") == Array("scan".utf8))
    #expect(access("\(copy)/disc/log", F_OK) != 0)
  }

  /// Another device's file of the same name arrives while ours is being read: it is kept as a conflict.
  @Test func whatArrivesUnderTheNameMeanwhileIsKept() throws {
    let program = try Program.withVault()
    let desk = Machine(first: program)
    let laptop = Machine("laptop", beside: program)
    let usb = program.folder.appending("usb").string
    let record = "Emma/Notes/2025-01-20 Visit"
    try desk.write("one", titled: "Visit")
    try desk.run("remote", "add", "usb", usb, expecting: 0)
    try desk.run("sync", expecting: 0)
    try laptop.clone(usb)
    let theirs = program.folder.appending("theirs").string
    #expect(mkdir(theirs, 0o700) == 0)
    try program.write("theirs", to: "\(theirs)/scan.bin")
    try laptop.run("attach", record, "\(theirs)/scan.bin", expecting: 0)
    try laptop.run("sync", expecting: 0)

    let ours = program.folder.appending("scan.bin").string
    try program.write([UInt8](repeating: 1, count: 64 << 20), to: ours)
    let attaching = try desk.start("attach", record, ours)
    for _ in 0..<240_000 where !isReading("scan.bin", attaching) && !attaching.hasEnded() {
      usleep(500)
    }
    attaching.signal(SIGSTOP)
    try desk.run("sync", expecting: 0)
    attaching.signal(SIGCONT)
    let told = attaching.wait()
    #expect(told.status == 0, "\(told.output)\(told.errors)")
    let lines = try desk.run("conflicts", "list", expecting: 0).output.split(separator: "\n")
    #expect(lines.count == 3 && lines[1].contains("scan.bin"), "\(lines)")
  }
}
