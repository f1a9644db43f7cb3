import BlobStore
import SystemPackage

/// How a remote is used.
package struct RemoteOptions: Sendable {
  /// Calls at once.
  package var concurrency = 16
  /// In each direction; nil: as fast as it goes.
  package var bytesPerSecond: Int?
  package var retries = RetryingStore.Policy()
  package var timeouts = Timeouts()
  /// Where access keys, the shared AWS files, rclone's configuration and proxies are looked for.
  package var environment: [String: String]
  package var rcloneProgram = "rclone"

  package init(environment: [String: String]) {
    self.environment = environment
  }

  /// The certificates that vouch for servers where the address names none: OpenSSL's and most programs' variable, which
  /// rclone reads by itself. Nil: the system's.
  var authorities: FilePath? {
    environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : FilePath($0) }
  }
}

/// From an address to a store that can be used.
package enum RemoteOpening {
  /// Opens a remote with retries and limits around it. Asks nothing of a server yet; a directory must exist.
  ///
  /// - Parameter credentials: Nil: for S3, what the environment and the shared AWS files have; for WebDAV, none.
  /// - Throws: `denied` when S3 has no access keys, `notFound` for a missing directory, `untrusted` for a file of
  ///   certificates or a proxy that is none, `programFailed` when rclone does not start or does not know the remote.
  package static func open(
    _ address: RemoteAddress, credentials: RemoteCredentials?, options: RemoteOptions
  ) throws(BlobStoreError) -> any BlobStore {
    let store = try openPlain(address, credentials: credentials, options: options)
    return RetryingStore(
      LimitedStore(
        store, concurrency: options.concurrency, bytesPerSecond: options.bytesPerSecond),
      policy: options.retries)
  }

  private static func openPlain(
    _ address: RemoteAddress, credentials: RemoteCredentials?, options: RemoteOptions
  ) throws(BlobStoreError) -> any BlobStore {
    switch address {
    case .directory(let folder):
      return try DirectoryStore(opening: folder)
    case .s3(let address):
      return try S3Store.open(
        try configuration(of: address, credentials: credentials, options: options))
    case .webDAV(let address):
      var configuration = WebDAVStore.Configuration(
        endpoint: address.endpoint, folder: address.folder, credentials: credentials,
        authorities: address.authorities ?? options.authorities)
      configuration.proxy = try HTTPProxy(
        for: address.endpoint, environment: options.environment)
      configuration.timeouts = options.timeouts
      return try WebDAVStore.open(configuration)
    case .rclone(let remote):
      return try RcloneStore.start(
        remote, program: options.rcloneProgram, environment: options.environment,
        timeouts: options.timeouts)
    }
  }

  /// Fills in what the address leaves open.
  package static func configuration(
    of address: RemoteAddress.S3Address, credentials: RemoteCredentials?, options: RemoteOptions
  ) throws(BlobStoreError) -> S3Store.Configuration {
    let shared = try SharedAWSFiles(environment: options.environment).settings(
      profile: address.profile)
    guard let credentials = credentials ?? shared.credentials else {
      throw .denied(
        path: "bucket \(address.bucket)",
        reason: "there is no access key for it, neither given nor in AWS_ACCESS_KEY_ID or ~/.aws")
    }
    let region = address.region ?? shared.region ?? "us-east-1"
    let custom = address.endpoint ?? shared.endpoint.flatMap { Endpoint($0) }
    guard let endpoint = custom ?? Endpoint("https://s3.\(region).amazonaws.com") else {
      throw .noSuchStore(name: "region \(region)")
    }
    // A bucket with a dot in its name has no certificate in front of Amazon's host.
    let usesPath = address.usesPathStyle ?? (custom != nil || address.bucket.contains("."))
    var configuration = S3Store.Configuration(
      endpoint: endpoint, bucket: address.bucket, prefix: address.prefix, region: region,
      usesPathStyle: usesPath, credentials: credentials,
      authorities: address.authorities ?? options.authorities)
    configuration.proxy = try HTTPProxy(for: endpoint, environment: options.environment)
    configuration.timeouts = options.timeouts
    return configuration
  }
}
