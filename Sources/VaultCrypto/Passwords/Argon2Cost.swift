/// What one guess of a password costs: passes over memory, and how much memory.
package struct Argon2Cost: Hashable, Sendable {
  package var passes: UInt32
  package var memoryKiB: UInt32

  package init(passes: UInt32, memoryKiB: UInt32) {
    self.passes = passes
    self.memoryKiB = memoryKiB
  }

  /// The least that the format allows.
  package static let floor = Argon2Cost(passes: 3, memoryKiB: 64 << 10)
  /// The most that a reader accepts: 4 GiB.
  package static let ceiling = Argon2Cost(passes: 64, memoryKiB: 4 << 20)

  /// Throws `costOutOfRange` for a cost outside of the format's bounds: a hostile file asks for
  /// hours or for all memory, a weakened one for nothing.
  package func validate() throws(CryptoError) {
    guard (Self.floor.passes...Self.ceiling.passes).contains(passes),
      (Self.floor.memoryKiB...Self.ceiling.memoryKiB).contains(memoryKiB)
    else { throw .costOutOfRange(self) }
  }

  /// The cost that takes about `target` on this machine; never less than `floor`, however slow it is.
  /// Runs Argon2id at most five times, as long as that.
  package static func calibrated(target: Duration) -> Argon2Cost {
    calibrated(target: target) { PasswordHash.duration(of: $0) }
  }

  /// More memory is what hurts who guesses with special hardware, so memory grows first, up to
  /// `calibrationMemoryKiB`, then passes. `measure` gives nil where there is no memory for a cost.
  static func calibrated(target: Duration, measure: (Argon2Cost) -> Duration?) -> Argon2Cost {
    var best = floor
    guard target >= leastTime, var time = measure(best) else { return best }
    // The time grows a little faster than the memory, so approach in several steps.
    for _ in 0..<4 {
      let next = best.scaled(by: target / max(time, .microseconds(1)))
      guard next != best, let nextTime = measure(next) else { break }
      (best, time) = (next, nextTime)
      if time >= target * 0.85, time <= target * 1.15 { break }
    }
    return best
  }

  /// No machine goes over the memory of `floor` three times in less: for a shorter time nothing has to be measured.
  private static let leastTime = Duration.milliseconds(20)
  /// No machine that people use runs out of this much for a moment.
  private static let calibrationMemoryKiB: UInt32 = 1 << 20
  private static let memoryStepKiB: UInt32 = 4 << 10

  private func scaled(by factor: Double) -> Argon2Cost {
    let work = Double(passes) * Double(memoryKiB) * factor
    let memory = work / Double(Self.floor.passes)
    guard memory > Double(Self.floor.memoryKiB) else { return .floor }
    guard memory > Double(Self.calibrationMemoryKiB) else {
      let steps = UInt32(memory) / Self.memoryStepKiB
      return Argon2Cost(
        passes: Self.floor.passes,
        memoryKiB: max(Self.floor.memoryKiB, steps * Self.memoryStepKiB))
    }
    let passes = min(Double(Self.ceiling.passes), work / Double(Self.calibrationMemoryKiB))
    return Argon2Cost(passes: UInt32(passes), memoryKiB: Self.calibrationMemoryKiB)
  }
}
