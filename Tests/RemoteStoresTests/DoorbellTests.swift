import BlobStore
import RemoteStores
import Synchronization
import Testing

/// What is said to a server of ntfy's protocol, and what is made of its answers. The whole way is in `ProgramsTests`.
struct DoorbellTests {
  private final class Heard: Sendable {
    private let sounds = Mutex<[Doorbell.Sound]>([])
    func add(_ sound: Doorbell.Sound) { sounds.withLock { $0.append(sound) } }
    var rings: Int { sounds.withLock { $0.count { $0 == .rings } } }
    var beginnings: Int { sounds.withLock { $0.count { $0 == .begins } } }
  }

  private func doorbell(_ server: CannedServer) throws -> Doorbell {
    let address = try #require(Doorbell.Address("http://127.0.0.1:\(server.port)/bells/"))
    return try Doorbell.open(address, environment: [:])
  }

  @Test func ringsWithAPostThatIsNotKept() throws {
    let server = CannedServer(always: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    try doorbell(server).ring("0a1b")
    let request = try #require(server.requests.first)
    #expect(request.hasPrefix("POST /bells/0a1b HTTP/1.1\r\n"))
    #expect(request.contains("\r\nCache: no\r\n"))
    #expect(request.contains("\r\nFirebase: no\r\n"))
  }

  @Test func aRefusalIsAnError() throws {
    let server = CannedServer(always: "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
    let doorbell = try doorbell(server)
    #expect(throws: BlobStoreError.self) { try doorbell.ring("0a1b") }
    let heard = Heard()
    let listening = doorbell.listen(to: ["0a1b"]) { heard.add($0) }
    #expect(throws: BlobStoreError.self) { try listening.wait() }
    #expect(heard.beginnings == 0)
  }

  @Test func hearsEveryLineThatIsNotEmpty() throws {
    let server = CannedServer(
      always: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\n\none\n\ntwo\nbroken off")
    let heard = Heard()
    try doorbell(server).listen(to: ["0a", "1b"]) { heard.add($0) }.wait()
    #expect(server.requests.first?.hasPrefix("GET /bells/0a,1b/raw HTTP/1.1\r\n") == true)
    #expect(heard.beginnings == 1)
    #expect(heard.rings == 2)
  }

  @Test func aLineWithoutAnEndTakesNoMemory() throws {
    let long = String(repeating: "x", count: 8 << 20)
    let server = CannedServer(
      always: "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(long)\n")
    let heard = Heard()
    try doorbell(server).listen(to: ["0a"]) { heard.add($0) }.wait()
    #expect(heard.rings == 1)
  }

  @Test func isCancelledFromAnotherThread() throws {
    let server = CannedServer { _, _ in .drip("HTTP/1.1 200 OK\r\n\r\n") }
    let heard = Heard()
    let listening = try doorbell(server).listen(to: ["0a"]) { heard.add($0) }
    while heard.beginnings == 0 {}
    listening.cancel()
    try listening.wait()
  }

  @Test(arguments: [
    "ntfy.sh", "ftp://ntfy.sh", "https://", "https://a@b.c", "https://ntfy.sh/?auth=x",
    "https://ntfy.sh/a b", "https://ntfy.sh/%2e", "https://ntfy.sh\nX: y",
  ])
  func isNoAddress(_ text: String) { #expect(Doorbell.Address(text) == nil) }

  @Test func anAddressIsSpelledInOneWay() {
    #expect(Doorbell.Address("HTTPS://Ntfy.SH:443/")?.text == "https://ntfy.sh")
    #expect(Doorbell.Address("http://[::1]:8080//a/b/")?.text == "http://[::1]:8080/a/b")
  }
}
