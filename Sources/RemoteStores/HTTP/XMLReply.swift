import BlobStore
import Foundation
import XMLCoder

/// XML from a server that may mean no good.
enum XMLReply {
  /// Decodes a document. Throws `unexpectedReply` for anything else, and for one that declares a document type:
  /// no answer of these protocols needs one, and entities that grow without end come from there.
  static func decode<Value: Decodable>(
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
