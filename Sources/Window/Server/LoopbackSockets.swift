import Glibc

/// A port of both loopback addresses that nobody else has. A browser takes `localhost` for either of them, so that with one
/// only, another user of this machine could listen at the other and be taken for the page.
struct LoopbackSockets {
  struct Failure: Error {}

  let port: Int
  /// `127.0.0.1`, and `::1` where this machine has it.
  let addresses: [String]

  /// Finds a port that is free for both addresses.
  static func find() throws -> LoopbackSockets {
    for _ in 0..<20 {
      guard let (port, ours) = Self.bind4(port: 0) else { continue }
      defer { close(ours) }
      guard Self.hasIPv6 else {
        return LoopbackSockets(port: Int(port), addresses: ["127.0.0.1"])
      }
      guard let theirs = Self.bind6(port: port) else { continue }
      close(theirs)
      return LoopbackSockets(port: Int(port), addresses: ["127.0.0.1", "::1"])
    }
    throw Failure()
  }

  private static var hasIPv6: Bool {
    guard let socket = bind6(port: 0) else { return false }
    close(socket)
    return true
  }

  private static func bind4(port: UInt16) -> (port: UInt16, socket: Int32)? {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, size) == 0 && getsockname(socket, address, &size) == 0
      }
    }
    guard isBound else {
      close(socket)
      return nil
    }
    return (UInt16(bigEndian: address.sin_port), socket)
  }

  private static func bind6(port: UInt16) -> Int32? {
    let socket = Glibc.socket(AF_INET6, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    var only: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    let size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) == 0 }
    }
    guard isBound else {
      close(socket)
      return nil
    }
    return socket
  }
}
