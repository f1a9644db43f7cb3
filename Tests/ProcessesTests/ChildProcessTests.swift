import Glibc
import Testing

@testable import Processes

/// What a program that we start gets from us, and what we learn of it.
@Suite struct ChildProcessTests {
  /// What a shell's script prints.
  private func printed(
    _ script: String, _ arguments: [String] = [],
    _ change: (inout ChildProcess.Setup) -> Void = { _ in }
  ) throws -> (text: String, ending: ChildProcess.Ending) {
    let pipe = try ProcessPipe()
    var setup = ChildProcess.Setup()
    setup.files = [0: .nothing, 1: .own(pipe.writing)]
    change(&setup)
    let process = try ChildProcess("/bin/sh", ["-c", script, "sh"] + arguments, setup)
    pipe.closeWriting()
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(pipe.reading, &buffer, buffer.count), count > 0 {
      bytes += buffer[..<count]
    }
    return (String(decoding: bytes, as: UTF8.self), process.wait())
  }

  @Test func wordsArriveAsTheyAre() throws {
    let words = ["", "two words", "ä\n'\"$HOME", "*"]
    let (text, ending) = try printed(#"for word; do printf '<%s>' "$word"; done"#, words)
    #expect(text == words.map { "<\($0)>" }.joined() && ending.isSuccess)
  }

  @Test func itsEnvironmentIsOursOrWhatItIsGiven() throws {
    #expect(try printed("echo $PATH").text == "\(String(cString: getenv("PATH")))\n")
    let (text, _) = try printed("/usr/bin/env") { $0.environment = ["ONE=1=2", "TWO="] }
    let lines = Set(text.split(separator: "\n"))
    #expect(lines.isSuperset(of: ["ONE=1=2", "TWO="]) && !text.contains("PATH=/"))
    #expect(ChildProcess.environment.contains("PATH=\(String(cString: getenv("PATH")))"))
  }

  /// Nothing that we have open is open there, unless it is given; and what is given has its number.
  @Test func itHasTheFilesThatItIsGivenAndNoOthers() throws {
    let secret = open("/etc/passwd", O_RDONLY | O_CLOEXEC)
    defer { close(secret) }
    let (text, _) = try printed("ls -l /proc/$$/fd") { $0.files[7] = .own(secret) }
    #expect(text.contains(" 7 -> /etc/passwd") && text.contains(" 0 -> /dev/null"), "\(text)")
    #expect(try !printed("ls -l /proc/$$/fd").text.contains("passwd"))
  }

  @Test func howItEndedIsTold() throws {
    #expect(try printed("exit 3").ending == .exited(3))
    let killed = try printed("kill -9 $$").ending
    #expect(killed == .killed(signal: SIGKILL) && killed.code == 137 && !killed.isSuccess)
    let process = try ChildProcess("/bin/sh", ["-c", "exit 0"])
    #expect(process.wait().isSuccess)
    // What cannot be learned any more is no success.
    #expect(!process.wait().isSuccess && process.poll()?.isSuccess == false)
  }

  @Test func aProgramThatIsNotThereIsNotStarted() throws {
    let error = #expect(throws: ChildProcess.NotStarted.self) {
      _ = try ChildProcess("/no/such/program", [])
    }
    #expect(error?.errno == ENOENT)
  }

  /// What this process ignores it does not, unless it shall.
  @Test func signalsAreAsByDefaultOrAsHere() throws {
    let before = signal(SIGUSR2, SIG_IGN)
    defer { signal(SIGUSR2, before) }
    let script = "kill -USR2 $$; echo alive"
    #expect(try printed(script).ending == .killed(signal: SIGUSR2))
    #expect(try printed(script) { $0.keepsSignals = true }.text == "alive\n")
  }

  @Test func aGroupOfItsOwnIsKilledAsAWhole() throws {
    var setup = ChildProcess.Setup()
    setup.leadsGroup = true
    let pipe = try ProcessPipe()
    setup.files[1] = .own(pipe.writing)
    let process = try ChildProcess("/bin/sh", ["-c", "sleep 600 & echo; wait"], setup)
    pipe.closeWriting()
    var byte: UInt8 = 0
    #expect(read(pipe.reading, &byte, 1) == 1)
    #expect(getpgid(process.number) == process.number && process.poll() == nil)
    process.kill(withGroup: true)
    // The other one has held the pipe as well.
    #expect(read(pipe.reading, &byte, 1) == 0)
  }

  @Test func aPipeHasNoLowNumberAndEndsWithItsOwner() throws {
    var pipe: ProcessPipe? = try ProcessPipe(above: 100)
    let ends = try [#require(pipe).reading, #require(pipe).writing]
    #expect(ends.allSatisfy { $0 >= 100 && fcntl($0, F_GETFD) == FD_CLOEXEC })
    let kept = try #require(pipe).takeReading()
    pipe = nil
    #expect(fcntl(kept, F_GETFD) == FD_CLOEXEC)
    var byte: UInt8 = 0
    #expect(read(kept, &byte, 1) == 0)
    close(kept)
  }
}
