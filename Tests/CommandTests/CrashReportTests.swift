import Glibc
import SystemPackage
import TestSupport
import Testing

/// What a process that holds keys says when it crashes.
@Suite struct CrashReportTests {
  @Test func aCrashShowsNoMemory() throws {
    let program = try Program.withVault()
    let out = program.folder.appending("out").string
    let backtracer = try Self.backtracer()
    for number in [SIGSEGV, SIGABRT, SIGILL, SIGQUIT] {
      let session = try TerminalProgram(
        program, "export", "Emma", out,
        environment: [
          "KINVAULT_PASSWORD_FILE": program.passwordFile,
          "SWIFT_BACKTRACE":
            "enable=yes,interactive=no,color=no,timeout=none,swift-backtrace=\(backtracer)",
        ])
      try session.expect("Export? [y/N]")
      session.signal(number)
      let status = session.end()
      // SIGQUIT is what Ctrl-\ sends: the prompt takes it like Ctrl-C.
      #expect(status == 128 + number || (number == SIGQUIT && status == 130))
      for word in ["crashed", "Backtrace", "Registers", "Thread 0", "0x0"] {
        #expect(!session.screen.contains(word), "\(session.screen)")
      }
    }
  }

  /// What shows it: of the toolchain whose runtime these tests have, since a program that brings its own finds none.
  private static func backtracer() throws -> String {
    let runtime = try CommandRunner.run(
      "grep", ["-om1", "/.*/lib/swift/linux/libswiftCore.so", "/proc/\(getpid())/maps"]
    ).output
    let library = try #require(runtime.firstRange(of: "/lib/swift/"), "\(runtime)")
    let path = "\(runtime[..<library.lowerBound])/libexec/swift/linux/swift-backtrace"
    try #require(access(path, X_OK) == 0, "there is no \(path)")
    return path
  }
}
