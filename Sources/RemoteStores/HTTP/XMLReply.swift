import BlobStore
import Foundation
import XMLCoder

/// XML from a server that may mean no good.
package enum XMLReply {
  /// Decodes a document. Throws `unexpectedReply` for anything else, and for one that declares a document type:
  /// no answer of these protocols needs one, and entities that grow without end come from there.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], path: BlobPath
  ) throws(BlobStoreError) -> Value {
    func fail(_ text: String) -> BlobStoreError {
      .unexpectedReply(path: path.string, status: 0, text: text)
    }
    let data = Data(bytes)
    // A NUL is a sign of UTF-16, where the search would find nothing.
    if data.range(of: Data("<!DOCTYPE".utf8)) != nil || bytes.contains(0) {
      throw fail("XML with a document type in it")
    }
    // Foundation's parser traps on a name that is not UTF-8.
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw fail("XML that is not UTF-8")
    }
    let decoder = XMLDecoder(trimValueWhitespaces: false)
    decoder.shouldProcessNamespaces = true
    // S3 says `IsTruncated` where we say `isTruncated`; WebDAV's names are lowercase throughout.
    decoder.keyDecodingStrategy = .convertFromCapitalized
    do {
      return try decoder.decode(type, from: data)
    } catch {
      throw fail("not the XML that belongs here")
    }
  }
}
