import Glibc
import RemoteStores
import Synchronization

/// A server on loopback that says what it is told to, however wrong, and keeps what it was asked.
final class CannedServer: Sendable {
  /// What it does once it has read a request.
  enum Answer: Sendable {
    /// Sends these bytes and closes the connection.
    case bytes(String)
    /// Sends the bytes, then one more from time to time, for ever.
    case drip(String)
    /// Says nothing and keeps the connection.
    case silence
    /// Sends these bytes, then nothing more, and keeps the connection.
    case stall(String)
    case hangUp
    /// Sends these bytes before it has read the request's body, and closes the connection as soon as some of that comes.
    case early(String)
  }

  let port: UInt16
  private let listener: Int32
  private let asked = Mutex<[String]>([])
  private let isOver = Atomic(false)

  var requests: [String] { asked.withLock { $0 } }
  /// How often it was asked, which is at least once. Where it answers nothing, it may read that after the caller has given up.
  var askedCount: Int {
    for _ in 0..<12_000 where requests.isEmpty { usleep(10_000) }
    return requests.count
  }
  var endpoint: Endpoint? { Endpoint("http://127.0.0.1:\(port)") }

  /// - Parameter answer: Of the request's text and its number, from 0.
  init(_ answer: @escaping @Sendable (_ request: String, _ number: Int) -> Answer) {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(listener, $0, size)
        _ = listen(listener, 16)
        _ = getsockname(listener, $0, &size)
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    Self.start { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0, let server = self else { return }
        Self.start { [weak server] in
          server?.serve(connection, answer)
          close(connection)
        }
      }
    }
  }

  deinit {
    isOver.store(true, ordering: .relaxed)
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  convenience init(always answer: String) {
    self.init { _, _ in .bytes(answer) }
  }

  private func serve(
    _ connection: Int32, _ answer: @Sendable (String, Int) -> Answer
  ) {
    var request = ""
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while !request.contains("\r\n\r\n") {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      request += String(decoding: buffer[..<count], as: UTF8.self)
    }
    let number = asked.withLock { asked in
      asked.append(request)
      return asked.count - 1
    }
    let answer = answer(request, number)
    switch answer {
    case .bytes(let text): Self.send(text, to: connection)
    case .drip(let text):
      Self.send(text, to: connection)
      while !isOver.load(ordering: .relaxed), Self.send("x", to: connection) { usleep(50_000) }
    case .silence, .stall:
      if case .stall(let text) = answer { Self.send(text, to: connection) }
      while !isOver.load(ordering: .relaxed),
        recv(connection, &buffer, 1, Int32(MSG_PEEK)) > 0
      {
        usleep(10_000)
      }
    case .hangUp: return
    case .early(let text):
      Self.send(text, to: connection)
      if request.hasSuffix("\r\n\r\n") { _ = recv(connection, &buffer, 1, 0) }
    }
  }

  @discardableResult
  private static func send(_ text: String, to connection: Int32) -> Bool {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes {
        Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  private final class Work {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  private static func start(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Work(body)).toOpaque())
    pthread_detach(thread)
  }
}
