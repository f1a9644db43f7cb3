import VaultModel

/// A signed file as it stands in the folder: a body and a signature, and nothing else.
///
/// There is one spelling for each: `Docs/Format-2.md`, "The envelope".
package struct Envelope: Hashable, Sendable {
  package let body: [UInt8]
  /// 64 bytes, of Ed25519.
  package let signature: [UInt8]

  static let signatureSize = 64

  package init(body: [UInt8], signature: [UInt8]) {
    self.body = body
    self.signature = signature
  }

  /// Throws `TrustError.envelope` for anything but the bytes that `encoded` gives.
  package init(decoding file: [UInt8]) throws(TrustError) {
    do throws(ModelError) {
      self = try WireReader.read(file, what: "signed file", limit: Limits.signedFileBytes) {
        reader throws(ModelError) in
        guard case .bytes(1) = try reader.next() else { throw reader.malformed("no body") }
        let body = try reader.byteArray()
        guard case .bytes(2) = try reader.next() else { throw reader.malformed("no signature") }
        return Envelope(body: body, signature: try reader.byteArray())
      }
    } catch { throw .envelope("\(error)") }
    guard signature.count == Self.signatureSize, encoded() == file else {
      throw .envelope("it has more than a body and a signature, or another spelling of them")
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter(capacity: body.count + Self.signatureSize + 8)
    writer.element(1, body)
    writer.element(2, signature)
    return writer.bytes
  }
}
