import Glibc
import SystemPackage
import TestSupport
import Testing

/// The power goes: the vault and this machine's state are on an ext4 that drops all that it was not made to write.
@Suite(.enabled(if: Machine.canMountDisks), .timeLimit(.minutes(60)))
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

  /// Number 19 of the review: a program that copies files has put a small object there a moment ago, which is on no disk
  /// yet, and a commit takes it for the one that it needs.
  @Test func whatACopierHasJustPutThereIsOnTheDiskBeforeTheHeadThatNamesIt() throws {
    let disk = try LoopDisk(megabytes: 64)
    let vault = try CrashVault(on: disk.root)
    let scan = vault.outside.appending("scan.jpg").string
    try run("sh", ["-c", "head -c 30000 /dev/urandom > '\(scan)'"])
    try vault.kinvault([
      "record", "add", "--vault", vault.vault.string, "--member", "Emma", "--type", "note",
      "--title", "Visit", "--date", "2025-01-20",
    ])
    let record = "Emma/Notes/2025-01-20 Visit"
    // The same machine elsewhere seals the same content to the same file.
    let copy = vault.outside.appending("copy").string
    try run("cp", ["-a", disk.root.string, copy])
    try run(
      CrashVault.binary, ["attach", "--vault", "\(copy)/Family", record, scan],
      environment: vault.environment.merging(["XDG_STATE_HOME": "\(copy)/state"]) { $1 })
    let made = try run(
      "find", ["\(copy)/Family", "-path", "*/objects/*", "-size", "+28k", "-type", "f"])
    let object = try #require(made.split(separator: "\n").map(String.init).first)
    let place = disk.root.string + object.dropFirst(copy.count)
    try run("sync", [])
    try run("sh", ["-c", "mkdir -p \"$(dirname '\(place)')\" && cp '\(object)' '\(place)'"])
    try vault.kinvault(["attach", "--vault", vault.vault.string, record, scan])
    let kept = try run(
      "find", [vault.vault.string, "-path", "*/objects/*", "-size", "+28k", "-type", "f"])
    try #require(kept == "\(place)\n", "another file is taken than what the copier put there")
    try disk.losePower {}
    try vault.checkIsClean()
    let exported = vault.outside.appending("exported").string
    try vault.kinvault(["export", "--yes", "--vault", vault.vault.string, record, exported])
    try run("sh", ["-c", "cmp '\(scan)' \"$(find '\(exported)' -name scan.jpg)\""])
  }

  @Test func aVaultAndAMemberAreThereOnceTheCommandsReturned() throws {
    let disk = try LoopDisk(megabytes: 64)
    let vault = try CrashVault(on: disk.root)
    try disk.losePower {}
    try vault.mount()
    try vault.unmount()
    try vault.checkIsClean()
  }
}
