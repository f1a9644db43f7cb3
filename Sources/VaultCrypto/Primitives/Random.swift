import CSodium
import VaultModel

/// Unpredictable bytes of the system's generator; `count` must not be negative.
package func randomBytes(_ count: Int) -> [UInt8] {
  Sodium.prepare()
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
    if count > 0 { randombytes_buf(buffer.baseAddress!, count) }
    initializedCount = count
  }
}

extension FixedBytes {
  /// An unpredictable value, such as the id of a new record.
  package static func random() -> Self {
    Self(storage: Storage(exactly: randomBytes(byteCount)))
  }
}
