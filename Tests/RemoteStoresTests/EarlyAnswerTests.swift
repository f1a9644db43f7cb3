import BlobStore
import RemoteStores
import TestSupport
import Testing

/// Servers that answer before they were told everything, and then hang up, as some do when they have much to do: the
/// requests that they cut off may fail, and the program goes on.
struct EarlyAnswerTests {
  @Test(arguments: [
    // On more than one event loop such ended the program.
    ("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", 800),
    ("HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\n", 100),
    ("HTTP/1.1 201 Created\r\n\r\n", 100),
    (
      "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
      100
    ),
    ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 100),
    (
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\nHTTP/1.1 102 P\r\n\r\n",
      100
    ),
    (
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      100
    ),
  ])
  func theProgramOutlivesThem(_ answer: String, _ count: Int) throws {
    let server = CannedServer { request, _ in
      request.hasPrefix("PUT") ? .early(answer) : .bytes(answer)
    }
    let store = try WebDAVStore.open(
      WebDAVStore.Configuration(
        endpoint: try #require(server.endpoint), folder: "", credentials: nil))
    try Threads.run(8) { number in
      for step in 0..<count / 8 {
        let bytes = [UInt8](repeating: 1, count: step % 10 == 0 ? 1 << 20 : 1000)
        do throws(BlobStoreError) {
          try store.put(BlobPath("\(number)-\(step)"), bytes)
        } catch {
          switch error {
          case .unreachable, .denied, .garbled, .unexpectedReply: continue
          default: throw error
          }
        }
      }
    }
    #expect(server.requests.count >= count / 8 * 8)
  }
}
