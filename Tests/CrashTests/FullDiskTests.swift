import Glibc
import SystemPackage
import TestSupport
import Testing

/// A small disk fills up under the vault.
@Suite(.serialized, .enabled(if: Machine.canMountDisks), .timeLimit(.minutes(5)))
struct FullDiskTests {
  @Test func aFullDiskSaysSoAndKeepsWhatWasSynced() throws {
    let disk = try LoopDisk(megabytes: 32)
    let vault = try CrashVault(on: disk.root)
    try vault.mount()
    for seed in 0..<2 {
      let writer = try vault.startWriting(seed: UInt64(seed), command: "fill")
      let result = writer.wait(timeout: .seconds(60))
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      #expect(result.output.hasPrefix("full after"))
      try vault.verify()
      if seed == 1 { break }
      // Full as it is, the vault can be closed and opened again.
      try vault.unmount()
      try vault.mount()
      try vault.verify()
      // Something goes, then there is space again.
      try run("sh", ["-c", "rm '\(vault.emma)/round 0/'*[13579]"])
      try vault.unmount()
      try vault.kinvault([
        "collect", "--keep-days", "0", "--yes", "--vault", vault.vault.string,
      ])
      try vault.mount()
      let count = try run("sh", ["-c", "ls '\(vault.emma)/round 0' | wc -l"])
      #expect(count != "0\n")
      vault.forgetRounds()
    }
    try vault.unmount()
    try vault.checkIsClean()
  }
}
