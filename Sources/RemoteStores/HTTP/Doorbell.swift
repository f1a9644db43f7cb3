import BlobStore
import NIOHTTP1

/// A server that tells machines at once that something new has come, and need not be trusted: it learns when, and which
/// machines listen. It speaks ntfy's protocol, of which two calls are used: publishing to a topic
/// (https://docs.ntfy.sh/publish/) and the stream of several topics as raw lines
/// (https://docs.ntfy.sh/subscribe/api/#subscribe-as-raw-stream).
package struct Doorbell: Sendable {
  /// Where it is: `https://ntfy.example.org`, perhaps with a folder behind it.
  package struct Address: Hashable, Sendable {
    package let text: String
    fileprivate let endpoint: Endpoint

    /// Nil for what is no such address: one with a user, a question mark or a fragment in it is none.
    package init?(_ text: some StringProtocol) {
      guard let mark = text.firstRange(of: "://") else { return nil }
      let rest = text[mark.upperBound...]
      let slash = rest.firstIndex(of: "/") ?? rest.endIndex
      guard let endpoint = Endpoint(text[..<slash]) else { return nil }
      let folder = rest[slash...].split(separator: "/").map { "/\($0)" }.joined()
      let isPlain = folder.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "-"),
          UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"):
          true
        default: false
        }
      }
      guard isPlain else { return nil }
      self.endpoint = endpoint
      self.text = "\(endpoint)\(folder)"
    }
  }

  /// So many topics are listened to at most: they stand in one line of a request. Of the others, which no family has, the
  /// remote's own looks tell.
  package static let topicLimit = 100

  /// A listener that hears nothing for so long asks anew; ntfy sends an empty line every 45 seconds.
  package static let longestSilence = Duration.seconds(150)

  private let address: Address
  private let transport: HTTPTransport
  /// What this process rings with, so that it does not hear itself.
  private let ownRing: String

  /// Asks nothing of the server yet.
  ///
  /// - Throws: `untrusted` for a file of certificates or a proxy that is none.
  package static func open(
    _ address: Address, environment: [String: String]
  ) throws(BlobStoreError) -> Doorbell {
    var timeouts = Timeouts()
    // It is only there to be quick.
    (timeouts.connect, timeouts.idle, timeouts.total) = (.seconds(5), .seconds(5), .seconds(10))
    let transport = try HTTPTransport.open(
      timeouts: timeouts, authorities: RemoteOptions(environment: environment).authorities,
      proxy: try HTTPProxy(for: address.endpoint, environment: environment), connectionCount: 4)
    return Doorbell(address, transport)
  }

  private init(_ address: Address, _ transport: HTTPTransport) {
    self.address = address
    self.transport = transport
    ownRing = String(UInt64.random(in: 0...UInt64.max), radix: 16)
  }

  /// Tells everyone who listens to the topic.
  ///
  /// - Throws: What a store throws, with the topic's place for a path.
  package func ring(_ topic: String) throws(BlobStoreError) {
    let path = BlobPath("doorbell")
    // Who is not there now looks at the remote when they come; and no phone's maker is to be told.
    let headers = [(name: "Cache", value: "no"), (name: "Firebase", value: "no")]
    let body = Array(ownRing.utf8)
    let reply = try body.span.bytes.withUnsafeBytes { bytes throws(BlobStoreError) in
      try transport.send(
        HTTPCall(
          method: .POST, url: "\(address.text)/\(topic)", headers: headers, body: bytes,
          path: path))
    }
    guard reply.isSuccess else { throw reply.failure(path) }
  }

  package enum Sound: Sendable {
    /// The listening begins. What rang before was not heard.
    case begins
    /// Somebody else rings.
    case rings
  }

  /// Listens until the connection ends or is cancelled.
  ///
  /// - Parameter onSound: Called on some thread; may not wait for anything.
  package func listen(
    to topics: [String], _ onSound: @escaping @Sendable (Sound) -> Void
  ) -> HTTPListening {
    let ownRing = ownRing
    let names = topics.prefix(Self.topicLimit).joined(separator: ",")
    return transport.listen(
      to: "\(address.text)/\(names)/raw", path: BlobPath("doorbell"),
      longestSilence: Self.longestSilence
    ) { line in
      if line != ownRing { onSound(line == nil ? .begins : .rings) }
    }
  }
}
