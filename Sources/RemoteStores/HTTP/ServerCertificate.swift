import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import SystemPackage

/// Says why a server's certificate was not taken. The TLS library tells only that it was not, so the server is asked for it
/// once more; nothing else is sent there.
struct ServerCertificate {
  /// From where on and until when each certificate that the server showed is valid, its own first; seconds since 1970.
  let validity: [(begin: Int64, end: Int64)]

  /// What the server shows; nil if it shows none in time, as where it does not speak TLS.
  static func ask(host: String, port: Int, timeout: TimeAmount) -> ServerCertificate? {
    // TLS names no server by its address.
    let isAddress =
      host.contains(":")
      || host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (48...57).contains($0) }
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let shown = loop.makePromise(of: [NIOSSLCertificate].self)
    loop.scheduleTask(in: timeout) { shown.fail(ChannelError.connectTimeout(timeout)) }
    ClientBootstrap(group: loop).connectTimeout(timeout).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        try channel.pipeline.syncOperations.addHandler(
          NIOSSLClientHandler(
            context: context, serverHostname: isAddress ? nil : host,
            customVerificationCallback: {
              (shownNow: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>)
              in
              shown.succeed(shownNow)
              verdict.succeed(.failed)
            }))
      }
    }.connect(host: host, port: port).whenComplete { result in
      switch result {
      case .failure(let error): shown.fail(error)
      case .success(let channel):
        channel.closeFuture.whenComplete { _ in shown.fail(ChannelError.eof) }
      }
    }
    // Why it shows none is of no interest: something was wrong before.
    guard let certificates = try? shown.futureResult.wait(), !certificates.isEmpty else {
      return nil
    }
    return ServerCertificate(
      validity: certificates.map { (Int64($0.notValidBefore), Int64($0.notValidAfter)) })
  }

  /// What is wrong with it and what to do, after the name was found to be right or was not looked at.
  ///
  /// - Parameter authorities: The file of certificates that was to vouch for it; nil: the system's.
  func trouble(now: Int64, authorities: FilePath?) -> String {
    if let end = validity.map(\.end).min(), end < now {
      return "its certificate expired on \(Self.day(end)). Whoever runs the server has to renew it"
    }
    if let begin = validity.map(\.begin).max(), begin > now {
      return "its certificate is valid only from \(Self.day(begin)) on. The certificate, or this "
        + "machine's clock, is wrong"
    }
    let judge = authorities.map { "nothing in \($0)" } ?? "no authority that this machine knows"
    return "its certificate is not trusted: \(judge) vouches for it. If the server is your own, "
      + "add the file of its certificate, or of that of its authority, to the address: ?ca=FILE"
  }

  /// `2025-01-20`, in UTC.
  private static func day(_ seconds: Int64) -> String {
    var (time, parts) = (time_t(seconds), tm())
    gmtime_r(&time, &parts)
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
