import CSodium

/// Overwrites secret bytes that had to stand in an array, in a way that is not optimised away.
///
/// Call it where the array has one owner; a copy made before keeps the bytes.
package func wipe(_ bytes: inout [UInt8]) {
  bytes.withUnsafeMutableBytes { buffer in
    if let start = buffer.baseAddress { sodium_memzero(start, buffer.count) }
  }
}
