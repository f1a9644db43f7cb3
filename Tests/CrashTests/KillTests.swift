import Glibc
import TestSupport
import Testing

/// The process of a mount dies: what an `fsync` had returned for is there, and nothing is damaged.
@Suite(.enabled(if: Machine.canMount), .timeLimit(.minutes(60)))
struct KillTests {
  @Test func aKillAtAnyInstantLosesNothingSynced() throws {
    let vault = try CrashVault()
    var random = SplitMix64(seed: Seeds.first(1)[0])
    for _ in 0..<20 {
      try vault.mount()
      try vault.verify(rounds: 1)
      let writer = try vault.startWriting(seed: random.next())
      vault.waitForPromises(2)
      usleep(UInt32.random(in: 0..<400_000, using: &random))
      vault.kill()
      #expect(writer.wait().status == 0, "\(writer.errorsSoFar)")
    }
    try vault.mount()
    try vault.verify()
    try vault.unmount()
    try vault.checkIsClean()
  }

  /// Descriptors opened with `O_SYNC` or `O_DSYNC`, for writing only.
  @Test func aKillLosesNothingThatWasWrittenThrough() throws {
    let vault = try CrashVault()
    for seed in Seeds.first(3) {
      try vault.mount()
      let writer = try vault.startWriting(seed: seed, command: "through")
      vault.waitForPromises(12)
      vault.kill()
      #expect(writer.wait().status == 0, "\(writer.errorsSoFar)")
      try vault.mount()
      try vault.verify()
      try vault.unmount()
    }
    try vault.checkIsClean()
  }

  /// `strace` kills the process as one of its threads is about to make its `number`-th such call.
  @Test(
    .enabled(if: Machine.canTrace),
    arguments: [
      ("renameat", 1), ("renameat", 3), ("renameat", 5), ("syncfs", 1), ("syncfs", 2),
      ("fsync", 1), ("fsync", 3), ("openat2", 30), ("write", 4),
      ("pwrite64", 1), ("pwrite64", 7), ("fdatasync", 1), ("fdatasync", 5),
    ])
  func aKillAtASystemCallLosesNothingSynced(call: String, number: Int) throws {
    let vault = try CrashVault()
    do {
      // With -D the tracer is the child, so that the process that is started is the program itself.
      try vault.mount(tracer: [
        "strace", "-D", "-f", "--seccomp-bpf", "-qqq", "-o", "/dev/null", "-e", "trace=\(call)",
        "-e", "inject=\(call):signal=SIGKILL:when=\(number)",
      ])
      let writer = try vault.startWriting(seed: UInt64(number))
      // A thread that makes fewer such calls does not come so far; then it dies like this.
      vault.waitForDeath(timeout: .seconds(3))
      vault.kill()
      #expect(writer.wait().status == 0, "\(writer.errorsSoFar)")
    } catch let failure as CommandFailure {
      // It died before anything was promised; anything else would let this pass without a kill.
      vault.waitForDeath(timeout: .seconds(120))
      let text = failure.description
      #expect(
        text.hasPrefix("mount: ")
          ? text.hasPrefix("mount: signalled(\(SIGKILL))") : !vault.isMountRunning, "\(text)")
      vault.kill()
    }
    try vault.mount()
    try vault.verify()
    try vault.unmount()
    try vault.checkIsClean()
  }
}
