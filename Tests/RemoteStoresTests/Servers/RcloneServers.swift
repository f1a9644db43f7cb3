import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// `rclone serve s3`: a second S3, which differs (it ignores `If-None-Match`).
final class RcloneS3Server: Server {
  static let credentials = RemoteCredentials(user: "key", secret: "secret")

  let endpoint: Endpoint
  private let program: GuardedProgram
  private let folder: TemporaryFolder

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    try DirectoryStore(opening: folder.path).put("data/family/.keep", [])
    let server = try ServerPrograms.start(home: folder.path) { ports in
      [
        try ServerPrograms.path("rclone"), "serve", "s3", "--addr", "127.0.0.1:\(ports[0])",
        "--auth-key", "key,secret", "--vfs-cache-mode", "off", folder.appending("data").string,
      ]
    }
    program = server.program
    endpoint = try #require(Endpoint("http://127.0.0.1:\(server.ports[0])"))
  }

  func store() throws -> S3Store {
    try S3Store.open(
      S3Store.Configuration(
        endpoint: endpoint, bucket: "family", prefix: "t/\(UInt64.random(in: .min ... .max))",
        region: "us-east-1", usesPathStyle: true, credentials: Self.credentials))
  }
}

/// `rclone serve webdav`, with a password.
final class RcloneWebDAVServer: Server {
  static let credentials = RemoteCredentials(user: "anna", secret: "a pass:word")

  let endpoint: Endpoint
  let folder: TemporaryFolder
  private let program: GuardedProgram

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    try DirectoryStore(opening: folder.path).put("data/.keep", [])
    let server = try ServerPrograms.start(
      home: folder.path,
      environment: [
        "RCLONE_USER": Self.credentials.user, "RCLONE_PASS": Self.credentials.secret,
      ]
    ) { ports in
      [
        try ServerPrograms.path("rclone"), "serve", "webdav", "--addr", "127.0.0.1:\(ports[0])",
        folder.appending("data").string,
      ]
    }
    program = server.program
    endpoint = try #require(Endpoint("http://127.0.0.1:\(server.ports[0])"))
  }

  func store(credentials: RemoteCredentials? = RcloneWebDAVServer.credentials) throws
    -> WebDAVStore
  {
    try WebDAVStore.open(
      WebDAVStore.Configuration(
        endpoint: endpoint, folder: "remote files/\(UInt64.random(in: .min ... .max))",
        credentials: credentials))
  }
}
