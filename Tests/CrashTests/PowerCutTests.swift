import Glibc
import TestSupport
import Testing

/// The power goes: the vault and this machine's state are on an ext4 that drops all that it was not made to write.
@Suite(.serialized, .enabled(if: Machine.canMountDisks), .timeLimit(.minutes(5)))
struct PowerCutTests {
  @Test func aPowerCutLosesNothingSynced() throws {
    let disk = try LoopDisk(megabytes: 256)
    let vault = try CrashVault(on: disk.root)
    var random = SplitMix64(seed: Seeds.first(1)[0])
    for _ in 0..<8 {
      try vault.mount()
      try vault.verify(rounds: 1)
      let writer = try vault.startWriting(seed: random.next())
      vault.waitForPromises(2)
      usleep(UInt32.random(in: 0..<900_000, using: &random))
      try disk.losePower {
        vault.forceUnmount()
        #expect(writer.wait().status == 0, "\(writer.errorsSoFar)")
      }
    }
    try vault.mount()
    try vault.verify()
    try vault.unmount()
    try vault.checkIsClean()
  }
}
