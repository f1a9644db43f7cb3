import Glibc

/// A small generator of reproducible random numbers (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014). Whoever fails names its seed.
package struct SplitMix64: RandomNumberGenerator, Sendable, CustomStringConvertible {
  package let seed: UInt64
  private var state: UInt64

  package init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  package var description: String { "seed \(seed)" }
}

/// Seeds for tests that try many schedules.
package enum Seeds {
  /// `0 ..< count`, or the one in the environment variable `KINVAULT_SEED`, to repeat a failure.
  ///
  /// Take it as a test's arguments, so that a failed expectation names the seed.
  package static func first(_ count: UInt64) -> [UInt64] {
    if let text = getenv("KINVAULT_SEED"), let seed = UInt64(String(cString: text)) {
      return [seed]
    }
    return Array(0..<count)
  }

  /// `0 ..< count`, unless the environment variable says how many from which one on: `5000+2000`.
  package static func first(_ count: UInt64, unless variable: String) -> [UInt64] {
    guard let text = getenv(variable) else { return first(count) }
    let parts = String(cString: text).split(separator: "+").compactMap { UInt64($0) }
    guard parts.count == 2 else { preconditionFailure("\(variable) is FIRST+COUNT") }
    return Array(parts[0]..<parts[0] + parts[1])
  }

  /// From this seed on some schedules make moves that were added later, where their doc comments say so. Those of lower seeds
  /// stay what they were, so that what a campaign has found by its seed can be repeated.
  package static let widened: UInt64 = 1_000_000

  /// `0 ..< count` and so many from `widened` on, unless the environment variable says which, or `KINVAULT_SEED`.
  package static func first(
    _ count: UInt64, widened more: UInt64, unless variable: String
  ) -> [UInt64] {
    let seeds = first(count, unless: variable)
    if getenv(variable) != nil || getenv("KINVAULT_SEED") != nil { return seeds }
    return seeds + Array(widened..<widened + more)
  }

  /// Runs the body with a generator for each seed; says which seed it was when the body throws.
  package static func forEach<Failure: Error>(
    _ seeds: [UInt64], _ body: (inout SplitMix64) throws(Failure) -> Void
  ) throws(Failure) {
    for seed in seeds {
      var random = SplitMix64(seed: seed)
      do throws(Failure) {
        try body(&random)
      } catch {
        complain("failed with KINVAULT_SEED=\(seed): \(error)")
        throw error
      }
    }
  }
}
