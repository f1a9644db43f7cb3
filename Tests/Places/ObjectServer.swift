import Glibc
import SystemPackage

/// SeaweedFS behind its S3 gateway, on loopback, with its data in the test folder; it can be killed and started again.
package final class ObjectServer {
  /// Why there is no server.
  package struct Unavailable: Error, CustomStringConvertible {
    package let description: String
  }

  private let folder: FilePath
  private var ports: [UInt16] = []
  private let program: String
  private let python: String
  private var process: pid_t?

  /// What `kinvault` needs in its environment to use it.
  package let environment = [
    "AWS_ACCESS_KEY_ID": "kinvault-test", "AWS_SECRET_ACCESS_KEY": "not+a/real=secret",
  ]

  /// The address of a part of the bucket, as `kinvault remote add` takes it.
  package func address(_ prefix: String) -> String {
    "s3://family/\(prefix)?endpoint=http://127.0.0.1:\(ports[3])&region=us-east-1&style=path"
  }

  /// Starts one with an empty bucket.
  package init() throws {
    folder = try TestFolder.shared.fresh("weed")
    let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
      .removingLastComponent()
    let python = root.appending(".build-python/bin")
    program = python.appending("weed").string
    guard access(program, X_OK) == 0 else {
      throw Unavailable(description: "\(program) is missing: run Scripts/setup --test")
    }
    self.python = python.appending("python").string
    try folder.appending("s3.json").write(
      """
      {"identities": [{"name": "test", "actions": ["Admin", "Read", "Write", "List", "Tagging"],
      "credentials": [{"accessKey": "kinvault-test", "secretKey": "not+a/real=secret"}]}]}
      """)
    try Errno.check(mkdir(folder.appending("data").string, 0o700))
    for attempt in 1...3 {
      ports = Self.freePorts()
      try start()
      do {
        try waitUntilReady()
        return
      } catch {
        // Someone else took one of the ports first.
        kill()
        if attempt == 3 { throw error }
      }
    }
  }

  /// Four ports that nobody listens at. SeaweedFS takes those 10,000 above them as well, which are below the ones that
  /// the system gives to whoever connects.
  private static func freePorts() -> [UInt16] {
    while true {
      let base = UInt16.random(in: 11_000...22_000)
      let ports = (0..<4).map { base + $0 * 7 }
      if ports.allSatisfy({ isFree($0) && isFree($0 + 10_000) }) { return ports }
    }
  }

  private static func isFree(_ port: UInt16) -> Bool {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  deinit { kill() }

  /// Starts it again on the data that it has.
  package func start() throws {
    let null = try Errno.check(Glibc.open("/dev/null", O_RDWR | O_CLOEXEC))
    defer { close(null) }
    process = try Command(
      [
        program, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
        "-dir=\(folder.appending("data").string)", "-master.port=\(ports[0])",
        "-volume.port=\(ports[1])", "-filer", "-filer.port=\(ports[2])", "-s3",
        "-s3.port=\(ports[3])", "-s3.config=\(folder.appending("s3.json").string)",
        "-volume.max=20", "-master.volumeSizeLimitMB=64", "-s3.port.iceberg=0", "-s3.port.lance=0",
      ], in: folder
    ).spawn(input: null, output: null, errors: null)
  }

  /// Ends it as kill -9 does.
  package func kill() {
    guard let process else { return }
    Glibc.kill(process, SIGKILL)
    _ = try? Command.wait(for: process)
    self.process = nil
  }

  /// Returns when it takes objects; makes the bucket if it is not there. One that was killed needs some seconds.
  ///
  /// - Throws: When it has ended, or does not answer in two minutes.
  package func waitUntilReady() throws {
    let script = """
      import sys, time, botocore.config, botocore.session
      client = botocore.session.get_session().create_client(
          "s3", endpoint_url=sys.argv[1], region_name="us-east-1",
          aws_access_key_id="kinvault-test", aws_secret_access_key="not+a/real=secret",
          config=botocore.config.Config(
              connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}))
      last, end = "it did not answer", time.monotonic() + 120
      while time.monotonic() < end:
          if open(f"/proc/{sys.argv[2]}/stat").read().rsplit(")", 1)[1].split()[0] == "Z":
              sys.exit("it has ended")
          try:
              if "Buckets" not in client.list_buckets() or not client.list_buckets()["Buckets"]:
                  client.create_bucket(Bucket="family")
              client.put_object(Bucket="family", Key="ready", Body=b"1")
              client.delete_object(Bucket="family", Key="ready")
              break
          except Exception as error:
              last = error
              time.sleep(0.25)
      else:
          sys.exit(str(last))
      """
    try Command(
      [python, "-c", script, "http://127.0.0.1:\(ports[3])", "\(process ?? 0)"]
    ).succeed()
  }
}
