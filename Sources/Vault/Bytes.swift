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
}
