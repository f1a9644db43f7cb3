import BlobStore

extension [UInt8] {
  /// `withUnsafeBytes` for bodies with typed errors.
  func withBytes<Value, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    var outcome: Result<Value, Failure>?
    withUnsafeBytes { buffer in
      do throws(Failure) {
        outcome = .success(try body(buffer))
      } catch {
        outcome = .failure(error)
      }
    }
    guard let outcome else { preconditionFailure("withUnsafeBytes did not call its body") }
    return try outcome.get()
  }

  /// Fills this array from the blob.
  ///
  /// - Returns: How many bytes were there.
  mutating func fill(
    from blob: any BlobReader, at offset: UInt64
  ) throws(BlobStoreError) -> Int {
    var outcome: Result<Int, BlobStoreError> = .success(0)
    withUnsafeMutableBytes { buffer in
      do throws(BlobStoreError) {
        outcome = .success(try blob.read(at: offset, into: buffer))
      } catch {
        outcome = .failure(error)
      }
    }
    return try outcome.get()
  }
}
