import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// Only a server that proves who it is gets to see anything.
struct TLSTests {
  private let folder: TemporaryFolder
  private let program: GuardedProgram
  private let port: UInt16
  private var certificate: FilePath { folder.appending("certificate.pem") }

  /// `rclone serve webdav` with a certificate that only its own file vouches for, for the name localhost.
  init() throws {
    folder = try TemporaryFolder()
    port = ServerPrograms.freePorts(1)[0]
    let key = folder.appending("key.pem")
    let made = try CommandRunner.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "2", "-subj", "/CN=kinvault test", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", key.string, "-out", folder.appending("certificate.pem").string,
      ])
    try #require(made.status == 0, "\(made.errors)")
    try DirectoryStore(opening: folder.path).put("data/blob", [1, 2, 3])
    program = try GuardedProgram(
      try ServerPrograms.path("rclone"),
      [
        "serve", "webdav", "--addr", "127.0.0.1:\(port)",
        "--cert", folder.appending("certificate.pem").string, "--key", key.string,
        folder.appending("data").string,
      ], environment: ServerPrograms.environment(home: folder.path))
    try ServerPrograms.wait(forPort: port, of: program)
  }

  private func store(host: String = "localhost", authorities: FilePath?) throws -> WebDAVStore {
    try WebDAVStore(
      WebDAVStore.Configuration(
        endpoint: try #require(Endpoint("https://\(host):\(port)")), folder: "",
        credentials: RemoteCredentials(user: "anna", secret: "secret"), authorities: authorities))
  }

  private func isUntrusted(_ error: any Error) -> Bool {
    if case .untrusted = error as? BlobStoreError { true } else { false }
  }

  @Test func trustsTheGivenAuthority() throws {
    #expect(try store(authorities: certificate).read("blob", limit: 9) == [1, 2, 3])
  }

  @Test func refusesAnUnknownCertificate() throws {
    #expect {
      try store(authorities: nil).read("blob", limit: 9)
    } throws: { isUntrusted($0) }
  }

  @Test func refusesACertificateForAnotherName() throws {
    #expect {
      try store(host: "127.0.0.1", authorities: certificate).read("blob", limit: 9)
    } throws: { isUntrusted($0) }
  }
}
