import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// Only a server that proves who it is gets to see anything, and one that does not is spoken of in plain words.
struct TLSTests {
  /// `rclone serve webdav` with a certificate that only its own file vouches for, for the name localhost.
  private final class TLSServer {
    let port: UInt16
    let certificate: FilePath
    private let folder: TemporaryFolder
    private let program: GuardedProgram

    init(days: Int = 2, speaksTLS: Bool = true) throws {
      let folder = try TemporaryFolder()
      self.folder = folder
      certificate = folder.appending("certificate.pem")
      let (key, request) = (folder.appending("key.pem"), folder.appending("request.pem"))
      try DirectoryStore(opening: folder.path).put(
        "names", Array("subjectAltName=DNS:localhost\n".utf8))
      try Self.openssl([
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-subj", "/CN=kinvault test", "-keyout", key.string, "-out", request.string,
      ])
      try Self.openssl([
        "x509", "-req", "-in", request.string, "-signkey", key.string, "-days", "\(days)",
        "-extfile", folder.appending("names").string, "-out", certificate.string,
      ])
      try DirectoryStore(opening: folder.path).put("data/blob", [1, 2, 3])
      let secrets = speaksTLS ? ["--cert", certificate.string, "--key", key.string] : []
      let server = try ServerPrograms.start(home: folder.path) { ports in
        [
          try ServerPrograms.path("rclone"), "serve", "webdav", "--addr", "127.0.0.1:\(ports[0])",
          folder.appending("data").string,
        ] + secrets
      }
      program = server.program
      port = server.ports[0]
    }

    private static func openssl(_ arguments: [String]) throws {
      let made = try CommandRunner.run("openssl", arguments)
      try #require(made.status == 0, "\(made.errors)")
    }

    /// By way of an address, as a person types it.
    func store(
      scheme: String = "https", host: String = "localhost", options: String = "",
      environment: [String: String] = [:]
    ) throws -> any BlobStore {
      try RemoteOpening.open(
        RemoteAddress.parse("\(scheme)://\(host):\(port)/\(options)").address, credentials: nil,
        options: RemoteOptions(environment: environment))
    }
  }

  /// Why a server is not trusted; fails when it is, or when the words are not for a person.
  private func reason(_ store: any BlobStore) throws -> String {
    do {
      _ = try store.read("blob", limit: 9)
    } catch {
      guard case .untrusted(let reason) = error else { throw error }
      for word in ["SSL", "NIO", "error:", ".cc", "swift"] {
        #expect(!reason.contains(word), "\(reason)")
      }
      return reason
    }
    throw BlobStoreError.untrusted(reason: "it was trusted")
  }

  @Test func trustsTheAuthorityOfTheAddressOrOfTheEnvironment() throws {
    let server = try TLSServer()
    let stores = [
      try server.store(options: "?ca=\(server.certificate)"),
      try server.store(environment: ["SSL_CERT_FILE": server.certificate.string]),
      try server.store(
        options: "?ca=\(server.certificate)", environment: ["SSL_CERT_FILE": "/no/such"]),
    ]
    for store in stores { #expect(try store.read("blob", limit: 9) == [1, 2, 3]) }
  }

  @Test func saysOfAnUnknownCertificateWhatToDo() throws {
    let server = try TLSServer()
    let unknown = try reason(server.store())
    #expect(unknown.contains("not trusted") && unknown.contains("?ca=FILE"), "\(unknown)")
    #expect(try reason(server.store(environment: ["SSL_CERT_FILE": ""])) == unknown)
    let other = try TLSServer()
    let notByThis = try reason(server.store(options: "?ca=\(other.certificate)"))
    #expect(notByThis.contains("nothing in \(other.certificate) vouches for it"), "\(notByThis)")
  }

  @Test func saysThatACertificateIsForAnotherName() throws {
    let server = try TLSServer()
    let other = try reason(server.store(host: "127.0.0.1", options: "?ca=\(server.certificate)"))
    #expect(other.contains("name does not match") && other.contains("127.0.0.1"), "\(other)")
  }

  @Test func saysThatACertificateHasExpired() throws {
    let server = try TLSServer(days: -1)
    for options in ["", "?ca=\(server.certificate)"] {
      let expired = try reason(server.store(options: options))
      #expect(expired.contains("expired on 20") && expired.contains("renew"), "\(expired)")
    }
  }

  @Test func saysThatAServerSpeaksNoTLS() throws {
    let server = try TLSServer(speaksTLS: false)
    #expect(try server.store(scheme: "http").read("blob", limit: 9) == [1, 2, 3])
    #expect(try reason(server.store()).contains("does not speak TLS"))
  }
}
