import Glibc
import SystemPackage
import TestSupport
import Threads

/// A software token that is plugged in for programs: a library that is loaded before libfido2 leads there by a socket.
package final class PluggedToken: Sendable {
  /// Told to a program, so that this token and no other one is plugged in.
  package let environment: [String: String?]
  private let folder: TemporaryFolder
  private let listener: Int32

  package struct Failed: Error {
    package let what: String
  }

  package init(_ token: SoftToken) throws {
    folder = try TemporaryFolder()
    let library = folder.appending("plugged-token.so").string
    let source = FilePath(#filePath).removingLastComponent().appending("plugged-token.c").string
    let built = try CommandRunner.run(
      "clang",
      ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library, source, "-lfido2"])
    guard built.status == 0 else { throw Failed(what: built.errors) }
    let path = folder.appending("token").string
    let loaded = [library, RememberedPasswords.environment["LD_PRELOAD"]].compactMap { $0 }
    environment = ["LD_PRELOAD": loaded.joined(separator: ":"), "KINVAULT_TEST_TOKEN": path]
    let listener = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let isNamed = withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      guard path.utf8.count < bytes.count else { return false }
      bytes.copyBytes(from: path.utf8)
      return true
    }
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    guard isNamed, isBound, listen(listener, 4) == 0 else { throw Failed(what: "no socket") }
    self.listener = listener
    guard SystemThread.detach({ Self.serve(listener, token) }) else {
      throw Failed(what: "no thread")
    }
  }

  deinit {
    // Ends `accept`, too; the thread closes it.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// One program after the other, as with a token of USB.
  private static func serve(_ listener: Int32, _ token: SoftToken) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      var reports = TokenReports(to: token)
      var report = [UInt8](repeating: 0, count: TokenReports.size)
      while recv(connection, &report, report.count, 0) == report.count {
        reports.take(report)
        for answer in reports.outgoing {
          send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
        }
        reports.outgoing = []
      }
      close(connection)
    }
    close(listener)
  }
}
