import BlobStore
import RemoteStores
import SystemPackage
import TestSupport
import Testing

struct OpeningTests {
  private let home: TemporaryFolder
  private let files: DirectoryStore

  init() throws {
    home = try TemporaryFolder()
    files = try DirectoryStore(opening: home.path)
    try files.put(
      ".aws/credentials",
      Array(
        """
        [default]
        aws_access_key_id = file-id
        aws_secret_access_key = file-secret
        [nas]
        aws_access_key_id = nas-id
        aws_secret_access_key = nas-secret
        aws_session_token = nas-token
        """.utf8))
    try files.put(
      ".aws/config",
      Array("[profile nas]\nregion = eu-north-1\nendpoint_url = https://nas:9000\n".utf8))
  }

  private func configuration(
    _ address: String, _ environment: [String: String] = [:],
    credentials: RemoteCredentials? = nil
  ) throws -> S3Store.Configuration {
    guard case .s3(let s3) = try RemoteAddress.parse(address).address else {
      throw BlobStoreError.invalidPath(address)
    }
    let variables = ["HOME": home.path.string].merging(environment) { $1 }
    return try RemoteOpening.configuration(
      of: s3, credentials: credentials, options: RemoteOptions(environment: variables))
  }

  @Test func takesAccessKeysFromWhereTheyAre() throws {
    let environment = ["AWS_ACCESS_KEY_ID": "env-id", "AWS_SECRET_ACCESS_KEY": "env-secret"]
    #expect(try configuration("s3://b").credentials.user == "file-id")
    #expect(try configuration("s3://b", environment).credentials.user == "env-id")
    #expect(try configuration("s3://b", ["AWS_PROFILE": "nas"]).credentials.user == "nas-id")
    let nas = try configuration("s3://b?profile=nas", environment)
    #expect(
      nas.credentials
        == RemoteCredentials(user: "nas-id", secret: "nas-secret", sessionToken: "nas-token"))
    let given = RemoteCredentials(user: "given", secret: "x")
    #expect(try configuration("s3://b", environment, credentials: given).credentials == given)
    #expect(throws: BlobStoreError.self) { try configuration("s3://b?profile=none") }
    #expect(throws: BlobStoreError.self) { try configuration("s3://b", ["HOME": "/nowhere"]) }
  }

  @Test func fillsInEndpointRegionAndStyle() throws {
    let amazon = try configuration("s3://b?region=eu-west-1")
    #expect(amazon.endpoint.description == "https://s3.eu-west-1.amazonaws.com")
    #expect(!amazon.usesPathStyle)
    #expect(try configuration("s3://b").region == "us-east-1")
    #expect(try configuration("s3://b.c").usesPathStyle)
    let nas = try configuration("s3://b?profile=nas")
    #expect(nas.endpoint.description == "https://nas:9000")
    #expect(nas.region == "eu-north-1")
    #expect(nas.usesPathStyle)
    #expect(try !configuration("s3://b?profile=nas&style=host").usesPathStyle)
  }

  @Test func opensADirectoryThatExists() throws {
    let options = RemoteOptions(environment: [:])
    let address = try RemoteAddress.parse(home.path.string).address
    let store = try RemoteOpening.open(address, credentials: nil, options: options)
    try store.put("a/b", [1])
    #expect(try files.read("a/b", limit: 9) == [1])
    let missing = try RemoteAddress.parse("\(home.path)/missing").address
    #expect(throws: BlobStoreError.notFound(path: "\(home.path)/missing")) {
      try RemoteOpening.open(missing, credentials: nil, options: options)
    }
  }

  /// Rclone would take files there and give none back. It is told before rclone is started.
  @Test func refusesAFolderThatRcloneDoesNotReadFrom() throws {
    var options = RemoteOptions(environment: [:])
    options.rcloneProgram = "/nowhere/rclone"
    let address = try RemoteAddress.parse("rclone:nas:Family [old]/vault").address
    #expect {
      try RemoteOpening.open(address, credentials: nil, options: options)
    } throws: { error in
      guard case .programFailed(_, let reason) = error as? BlobStoreError else { return false }
      return reason.contains("]")
    }
  }

  @Test func refusesAFileOfCertificatesThatIsNone() throws {
    let address = try RemoteAddress.parse(
      "https://localhost/x?ca=\(home.path)/.aws/config"
    ).address
    #expect {
      try RemoteOpening.open(address, credentials: nil, options: RemoteOptions(environment: [:]))
    } throws: { error in
      guard case .untrusted = error as? BlobStoreError else { return false }
      return true
    }
  }
}
