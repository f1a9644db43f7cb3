import Glibc
import SystemPackage

import enum TestSupport.LoopbackPorts
import enum TestSupport.SeaweedFS

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
    try LoopbackPorts.start(4) { ports in
      self.ports = ports
      try start()
      do {
        try waitUntilReady()
      } catch {
        kill()
        throw error
      }
    }
  }

  deinit { kill() }

  /// Starts it again on the data that it has.
  package func start() throws {
    let null = try Errno.check(Glibc.open("/dev/null", O_RDWR | O_CLOEXEC))
    defer { close(null) }
    let words = try Errno.check(
      Glibc.open(log.string, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600))
    defer { close(words) }
    process = try Command(
      [program] + SeaweedFS.arguments(ports, in: folder), in: folder,
      environment: ["TMPDIR": folder.string]
    ).spawn(input: null, output: words, errors: words)
  }

  private var log: FilePath { folder.appending("log") }

  /// Ends it as kill -9 does.
  package func kill() {
    guard let process else { return }
    Glibc.kill(process, SIGKILL)
    _ = try? Command.wait(for: process)
    self.process = nil
    SeaweedFS.removeSockets(of: ports)
  }

  /// Returns when it takes objects; makes the bucket if it is not there. One that was killed needs some seconds.
  ///
  /// - Throws: `ServerEnded`, or something else when it does not answer in two minutes.
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
              sys.exit(3)
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
    let outcome = try Command(
      [python, "-c", script, "http://127.0.0.1:\(ports[3])", "\(process ?? 0)"]
    ).run()
    if outcome.status == 3 {
      let said = try OpenFile(log, O_RDONLY).text()
      throw LoopbackPorts.ServerEnded(program, output: String(said.suffix(4096)))
    }
    guard outcome.isSuccess else { throw CommandFailed(outcome: outcome) }
  }
}
