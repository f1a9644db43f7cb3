import Testing

@testable import VaultCrypto

/// Docs/Format.md, "4. Keys".
@Suite struct Argon2CostTests {
  @Test func onlyCostsOfTheFormatAreAccepted() {
    for (passes, memoryKiB) in [(3, 65_536), (64, 4_194_304), (3, 4_194_304), (10, 100_000)] {
      #expect(throws: Never.self) {
        try Argon2Cost(passes: UInt32(passes), memoryKiB: UInt32(memoryKiB)).validate()
      }
    }
    for (passes, memoryKiB) in [
      (2, 65_536), (3, 65_535), (65, 65_536), (3, 4_194_305), (0, 0), (UInt32.max, UInt32.max),
    ] {
      let cost = Argon2Cost(passes: UInt32(passes), memoryKiB: UInt32(memoryKiB))
      #expect(throws: CryptoError.costOutOfRange(cost)) { try cost.validate() }
      #expect(throws: CryptoError.costOutOfRange(cost)) {
        _ = try PasswordHash.stretch(
          SecretBytes(count: 1), salt: [UInt8](repeating: 0, count: 16), cost: cost)
      }
    }
  }

  /// Machines from a slow board to a fast server, with no noise: the work decides the time.
  @Test(arguments: [1, 20, 70, 150, 349, 350, 500, 10_000])
  func calibrationMeetsItsTargetOrTheFloor(millisecondsOfTheFloor: Int) throws {
    func duration(_ cost: Argon2Cost) -> Duration {
      let work = Double(cost.passes) * Double(cost.memoryKiB) / (3 * 65_536)
      return .milliseconds(millisecondsOfTheFloor) * work
    }
    let cost = Argon2Cost.calibrated(target: .milliseconds(350)) { duration($0) }
    try cost.validate()
    if millisecondsOfTheFloor < 350 {
      #expect((.milliseconds(250) ... .milliseconds(500)).contains(duration(cost)))
    } else {
      #expect(cost == .floor)
    }
  }

  @Test func calibrationKeepsWhatThereIsMemoryFor() {
    let cost = Argon2Cost.calibrated(target: .milliseconds(350)) { cost in
      cost.memoryKiB > 65_536 ? nil : .milliseconds(50)
    }
    #expect(cost == .floor)
    #expect(Argon2Cost.calibrated(target: .milliseconds(350)) { _ in nil } == .floor)
  }

  @Test func calibrationHereGivesAnAcceptableCost() throws {
    try Argon2Cost.calibrated(target: .milliseconds(350)).validate()
    #expect(Argon2Cost.calibrated(target: .milliseconds(1)) == .floor)
  }

  @Test func nothingIsMeasuredForATimeThatNoMachineKeeps() {
    let cost = Argon2Cost.calibrated(target: .milliseconds(1)) { _ in
      Issue.record("it was measured")
      return nil
    }
    #expect(cost == .floor)
  }
}
