import SwiftProtobuf

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Between the generated messages and our values. Foundation's Data stays in this file.

extension SwiftProtobuf.Message {
  /// The message that these bytes, at most 1 MiB, encode.
  static func decode(_ bytes: [UInt8], what: StaticString) throws(ModelError) -> Self {
    try Limits.check(bytes.count, Limits.signedFileBytes, what)
    do {
      return try Self(serializedBytes: bytes)
    } catch {
      throw .malformed(what: "\(what)", reason: "it is no message of the format")
    }
  }

  /// Fields in ascending order, unknown ones last.
  var canonicalBytes: [UInt8] {
    do {
      return try serializedBytes()
    } catch {
      // Only required fields, which proto3 has not, and 2 GiB make encoding fail.
      preconditionFailure("a message can not be encoded")
    }
  }

  /// The fields that the message has and its type does not.
  var unknown: UnknownFields {
    get { UnknownFields(bytes: [UInt8](unknownFields.data)) }
    set {
      guard !newValue.isEmpty else { return unknownFields = UnknownStorage() }
      do {
        // To a message without fields every field is unknown.
        unknownFields = try Google_Protobuf_Empty(serializedBytes: newValue.bytes).unknownFields
      } catch {
        preconditionFailure("unknown fields come from a message that was decoded")
      }
    }
  }
}

extension FixedBytes {
  var data: Data { withUnsafeBytes { Data($0) } }
}

extension [UInt8] {
  var data: Data { Data(self) }
}

extension Data {
  var array: [UInt8] { [UInt8](self) }

  /// The id that these bytes are; throws unless there are exactly as many as it has.
  func id<ID: FixedBytes>(_ field: StaticString) throws(ModelError) -> ID {
    guard let id = ID([UInt8](self)) else { throw wrongCount(field, ID.byteCount) }
    return id
  }

  /// The id that these bytes are; nil when there are none.
  func optionalID<ID: FixedBytes>(_ field: StaticString) throws(ModelError) -> ID? {
    isEmpty ? nil : try id(field)
  }

  /// The bytes; throws unless there are exactly `count`.
  func bytes(_ count: Int, _ field: StaticString) throws(ModelError) -> [UInt8] {
    guard self.count == count else { throw wrongCount(field, count) }
    return array
  }

  private func wrongCount(_ field: StaticString, _ count: Int) -> ModelError {
    .malformed(what: "\(field)", reason: "it has \(self.count) bytes, not \(count)")
  }
}

extension FixedWidthInteger {
  /// The number; throws when it is zero, where counting starts at one.
  func fromOne(_ field: StaticString) throws(ModelError) -> Self {
    guard self >= 1 else { throw .malformed(what: "\(field)", reason: "it is zero or missing") }
    guard self <= Limits.number else {
      throw .malformed(what: "\(field)", reason: "it is too large")
    }
    return self
  }
}

extension UInt64 {
  /// The time; throws when it is later than the year 9999.
  func time(_ field: StaticString) throws(ModelError) -> UInt64 {
    guard self <= Limits.time else {
      throw .malformed(what: "\(field)", reason: "it is later than the year 9999")
    }
    return self
  }
}

/// The sizes of keys and the like, in bytes.
enum KeySize {
  static let publicKey = 32
  /// Of X-Wing.
  static let agreementPublicKey = 1_216
  static let signature = 64
  static let salt = 16
  static let wrappedKey = 40
  static let nonce = 12
  static let tag = 16
  static let secret = 32
}
