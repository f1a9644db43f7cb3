import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

/// SeaweedFS with one bucket, behind its S3 gateway, and its folders by WebDAV.
final class SeaweedServer: Server {
  static let credentials = RemoteCredentials(user: "kinvault-test", secret: "not+a/real=secret")
  static let bucket = "family"

  let endpoint: Endpoint
  private let webDAV: Endpoint
  private let program: GuardedProgram
  private let ports: [UInt16]
  private let folder: TemporaryFolder

  init() throws {
    let folder = try TemporaryFolder()
    self.folder = folder
    let files = try DirectoryStore(opening: folder.path)
    try files.put(
      "s3.json",
      Array(
        """
        {"identities": [{"name": "test", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        "credentials": [{"accessKey": "\(Self.credentials.user)", "secretKey": "\(Self.credentials.secret)"}]}]}
        """.utf8))
    try files.put("data/here", [])
    let server = try ServerPrograms.start(ports: 5, home: folder.path) { ports in
      [try ServerPrograms.path("weed")] + SeaweedFS.arguments(ports, in: folder.path) + [
        "-webdav", "-webdav.port=\(ports[4])",
        "-webdav.cacheDir=\(folder.appending("data").string)",
      ]
    }
    (program, ports) = server
    endpoint = try #require(Endpoint("http://127.0.0.1:\(server.ports[3])"))
    webDAV = try #require(Endpoint("http://127.0.0.1:\(server.ports[4])"))
    try makeBucket()
  }

  deinit { SeaweedFS.removeSockets(of: ports) }

  /// By botocore, which signs on its own account. A server that is just starting may need some tries, and leave one
  /// without an answer.
  private func makeBucket() throws {
    let script = """
      import sys, time, botocore.config, botocore.session
      endpoint, user, secret, bucket = sys.argv[1:]
      client = botocore.session.get_session().create_client(
          "s3", endpoint_url=endpoint, region_name="us-east-1",
          aws_access_key_id=user, aws_secret_access_key=secret,
          config=botocore.config.Config(
              connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}))
      last, end = "it did not answer", time.monotonic() + 120
      while time.monotonic() < end:
          try:
              there = client.list_buckets().get("Buckets") or []
              if bucket not in [each["Name"] for each in there]:
                  client.create_bucket(Bucket=bucket)
              client.put_object(Bucket=bucket, Key="ready", Body=b"1")
              client.delete_object(Bucket=bucket, Key="ready")
              break
          except Exception as error:
              last = error
              time.sleep(0.25)
      else:
          sys.exit(str(last))
      """
    let result = try CommandRunner.run(
      try ServerPrograms.path("python"),
      [
        "-c", script, "\(endpoint)", Self.credentials.user, Self.credentials.secret, Self.bucket,
      ], timeout: .seconds(180))
    try #require(result.status == 0, "\(result.errors)")
  }

  /// A part of the bucket that nobody used before.
  func store(
    _ change: (inout S3Store.Configuration) -> Void = { _ in }
  ) throws -> S3Store {
    var configuration = S3Store.Configuration(
      endpoint: endpoint, bucket: Self.bucket,
      prefix: "tests/\(UInt64.random(in: .min ... .max))", region: "us-east-1",
      usesPathStyle: true, credentials: Self.credentials)
    change(&configuration)
    return try S3Store.open(configuration)
  }
  /// In a folder that is not there yet, nor the one above it.
  func webDAVStore() throws -> WebDAVStore {
    try WebDAVStore.open(
      WebDAVStore.Configuration(
        endpoint: webDAV, folder: "remote files/\(UInt64.random(in: .min ... .max))",
        credentials: nil))
  }
}
