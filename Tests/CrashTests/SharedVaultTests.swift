import Glibc
import SystemPackage
import TestSupport
import Testing

/// Several programs of one device on one vault at once.
@Suite(.enabled(if: Machine.canMount), .timeLimit(.minutes(60)))
struct SharedVaultTests {
  /// The second mount only shows: two that can be written to would replace what was saved in the other.
  @Test func twoMountsAndCommandsAtOnceLoseNothing() throws {
    let vault = try CrashVault()
    try vault.mount()
    let second = vault.outside.appending("second")
    defer { _ = try? CommandRunner.run("umount", ["-l", second.string]) }
    let other = try vault.start(at: second, options: ["--read-only"])
    let count = 40
    let loop =
      "for i in $(seq \(count)); do echo $i > \"$0/$1 $i\" || exit 1; done; mkdir \"$0/$1\""
    let writers = try ["first", "second"].map {
      try RunningCommand("sh", ["-c", loop, vault.emma.string, $0])
    }
    for number in 0..<5 {
      try vault.kinvault([
        "record", "add", "--vault", vault.vault.string, "--member", "Emma", "--type", "note",
        "--title", "record \(number)", "--date", "2025-01-20",
      ])
    }
    for writer in writers { #expect(writer.wait().status == 0, "\(writer.errorsSoFar)") }
    // The other mount looks twice a second.
    let shown = second.appending("Emma")
    func listed(_ place: FilePath) throws -> [Substring] {
      try run("ls", [place.string]).split(separator: "\n")
    }
    for _ in 0..<1200 {
      if try listed(shown) == listed(vault.emma) { break }
      usleep(100_000)
    }
    #expect(try listed(shown) == listed(vault.emma))
    try vault.kinvault(["unmount", second.string])
    let end = other.wait()
    #expect(end.status == 0, "\(end.end) \(end.errors)")
    try vault.unmount()

    try vault.mount()
    let names = try run("ls", [vault.emma.string]).split(separator: "\n").map(String.init)
    for name in ["first", "second"] {
      #expect(names.contains(name))
      for number in 1...count {
        let path = vault.emma.appending("\(name) \(number)").string
        #expect(try run("cat", [path]) == "\(number)\n")
      }
    }
    let notes = try run("ls", [vault.emma.appending("Notes").string]).split(separator: "\n")
    for number in 0..<5 { #expect(notes.contains { $0.contains("record \(number)") }) }
    try vault.unmount()
    try vault.checkIsClean()
  }
}
