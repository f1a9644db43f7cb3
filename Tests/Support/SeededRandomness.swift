import CSodium
import Glibc

/// Makes keys, ids and nonces follow from a seed, so that a schedule which failed can be had again as it was.
///
/// It stands in the place of libsodium's generator, for the thread that asks for it and while it does; all other threads
/// get the system's randomness. What a body does on other threads is therefore not repeated, nor are wraps of keys, whose
/// randomness swift-crypto takes from the system.
package enum SeededRandomness {
  /// Carries `body` out with random bytes that follow from the seed. The order of sets and dictionaries is the same only
  /// with `SWIFT_DETERMINISTIC_HASHING=1`.
  package static func with<Result, Failure: Error>(
    seed: UInt64, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    _ = installed
    var random = SplitMix64(seed: seed)
    let before = pthread_getspecific(key)
    return try withUnsafeMutablePointer(to: &random) { pointer throws(Failure) in
      pthread_setspecific(key, pointer)
      defer { pthread_setspecific(key, before) }
      return try body()
    }
  }

  /// Where each thread has its generator.
  private static let key = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "no room for a thread's value")
    return key
  }()

  private static let installed: Void = {
    _ = key
    precondition(sodium_init() >= 0, "libsodium does not start")
    // It is asked until the process ends.
    let generator = UnsafeMutablePointer<randombytes_implementation>.allocate(capacity: 1)
    generator.initialize(to: randombytes_implementation())
    generator.pointee.implementation_name = { name }
    generator.pointee.random = {
      var number: UInt32 = 0
      withUnsafeMutableBytes(of: &number) { fill($0) }
      return number
    }
    generator.pointee.buf = { start, count in
      fill(UnsafeMutableRawBufferPointer(start: start, count: count))
    }
    randombytes_set_implementation(generator)
  }()

  private nonisolated(unsafe) static let name = UnsafePointer(strdup("seeded"))

  private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let random = pthread_getspecific(key)?.assumingMemoryBound(to: SplitMix64.self) else {
      var system = SystemRandomNumberGenerator()
      return fill(bytes, from: &system)
    }
    fill(bytes, from: &random.pointee)
  }

  private static func fill(
    _ bytes: UnsafeMutableRawBufferPointer, from random: inout some RandomNumberGenerator
  ) {
    for start in stride(from: 0, to: bytes.count, by: 8) {
      let word = random.next()
      withUnsafeBytes(of: word) { word in
        for offset in start..<min(start + 8, bytes.count) { bytes[offset] = word[offset - start] }
      }
    }
  }
}
