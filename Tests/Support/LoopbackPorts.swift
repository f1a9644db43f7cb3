import Glibc

/// Ports of 127.0.0.1 for the servers that tests start.
///
/// All are below those that the kernel gives to whoever connects: a server asks for its ports seconds after they were found
/// free, and SeaweedFS connects to itself before it has asked for the last of them.
package enum LoopbackPorts {
  /// The program of a server has ended, which may be since somebody else had one of its ports.
  package struct ServerEnded: Error, CustomStringConvertible {
    package let description: String

    package init(_ program: String, output: String) {
      description = "\(program) has ended, and said:\n\(output)"
    }
  }

  /// Starts a server with free ports; with other ones when it throws `ServerEnded`, some times.
  package static func start<Server>(
    _ count: Int = 1, _ start: ([UInt16]) throws -> Server
  ) throws -> Server {
    for _ in 1..<5 {
      do { return try start(take(count)) } catch is ServerEnded {}
    }
    return try start(take(count))
  }

  /// Ports that nobody has, nor the one after each, which the TPM's software stack takes, nor the one 10,000 above it, which
  /// SeaweedFS takes. No test process gets them again for as long as this one lives.
  package static func take(_ count: Int) -> [UInt16] {
    var ports: [UInt16] = []
    for _ in 0..<100_000 where ports.count < count {
      // The ones after them are odd, and the ones above them are no port's that is drawn.
      let port = 2 * UInt16.random(in: 5_500..<10_500)
      guard let name = claim(port) else { continue }
      if [port, port + 1, port + 10_000].allSatisfy(isFree) {
        ports.append(port)
      } else {
        close(name)
      }
    }
    precondition(ports.count == count, "no ports are free")
    return ports
  }

  /// Whether somebody listens there.
  package static func answers(_ port: UInt16) -> Bool {
    let socket = open(AF_INET, SOCK_STREAM)
    defer { close(socket) }
    return with(port) { connect(socket, $0, $1) } == 0
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let socket = open(AF_INET, SOCK_STREAM)
    defer { close(socket) }
    return with(port) { bind(socket, $0, $1) } == 0
  }

  /// A socket whose name says the port, which one process can have, and none has that has ended; no file is made of a name
  /// that begins with zero. Nil when it is taken.
  private static func claim(_ port: UInt16) -> Int32? {
    let socket = open(AF_UNIX, SOCK_DGRAM)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array("\0kinvault-test-port-\(port)".utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) }
    }
    if bound == 0 { return socket }
    precondition(errno == EADDRINUSE, "a socket is given no name: errno \(errno)")
    close(socket)
    return nil
  }

  private static func open(_ family: Int32, _ kind: __socket_type) -> Int32 {
    let socket = Glibc.socket(family, Int32(kind.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    precondition(socket >= 0, "no socket")
    return socket
  }

  private static func with(
    _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
    }
  }
}
