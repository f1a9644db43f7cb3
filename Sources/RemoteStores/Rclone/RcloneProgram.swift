import BlobStore
import FoundationEssentials
import Glibc
import NIOHTTP1
import SystemPackage
import Threads

/// The user's own `rclone`, running as `rclone rcd` for us alone: it listens on a socket in a folder that only this
/// user can enter, so no password and no port is needed, and no credential is on a command line.
final class RcloneProgram: Sendable {
  private let program: GuardedProgram
  private let transport: HTTPTransport
  /// Holds the socket.
  private let folder: FilePath
  private let base: String
  /// HTTP wants one, also where a socket has no host.
  private static let host = (name: "Host", value: "localhost")

  /// Throws `programFailed` when rclone does not start.
  static func start(
    program name: String, environment: [String: String], timeouts: Timeouts
  ) throws(BlobStoreError) -> RcloneProgram {
    let parent = environment["XDG_RUNTIME_DIR"] ?? environment["TMPDIR"] ?? "/tmp"
    // A socket's whole path may have 107 bytes.
    var template = Array("\(parent.utf8.count < 60 ? parent : "/tmp")/kinvault-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw BlobStoreError(errno: errno, path: parent) }
    let folder = FilePath(platformString: template)
    let socket = folder.appending("rclone").string
    var variables = environment
    // Blobs are small: sent with their length and checked by hash, not streamed. And the listing's own times do.
    variables["RCLONE_STREAMING_UPLOAD_CUTOFF"] = "16M"
    variables["RCLONE_USE_SERVER_MODTIME"] = "true"
    variables["RCLONE_ASK_PASSWORD"] = "false"
    let started: RcloneProgram
    do {
      let transport = try HTTPTransport.open(timeouts: timeouts)
      let program = try GuardedProgram(
        name,
        ["rcd", "--rc-addr", "unix://\(socket)", "--rc-no-auth", "--rc-serve"],
        environment: variables)
      started = RcloneProgram(
        program, transport, folder, base: "http+unix://\(PercentEncoding.encode(socket))")
    } catch {
      rmdir(folder.string)
      throw error
    }
    try wait(for: socket, of: started.program)
    return started
  }

  private init(
    _ program: GuardedProgram, _ transport: HTTPTransport, _ folder: FilePath, base: String
  ) {
    self.program = program
    self.transport = transport
    self.folder = folder
    self.base = base
  }

  deinit {
    unlink(folder.appending("rclone").string)
    rmdir(folder.string)
  }

  private static func wait(
    for socket: String, of program: GuardedProgram
  ) throws(BlobStoreError) {
    for _ in 0..<3000 {
      if accepts(socket) { return }
      if program.hasEnded { throw program.failure("it does not start") }
      SystemThread.pause(for: .milliseconds(10))
    }
    throw program.failure("it did not start within 30 seconds")
  }

  /// Whether somebody listens there: the file is there a moment before.
  private static func accepts(_ socket: String) -> Bool {
    let number = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return false }
    defer { close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// Sends one command and decodes its answer. Throws `notFound` when rclone says so, and for all else that goes
  /// wrong `programFailed` with its own words: it has tried again by then, as often as makes sense.
  func run<Answer: Decodable>(
    _ command: String, _ parameters: some Encodable, about path: BlobPath,
    limit: Int = 1 << 20
  ) throws(BlobStoreError) -> Answer {
    let body: [UInt8]
    do {
      body = Array(try JSONEncoder().encode(parameters))
    } catch {
      throw .invalidPath(path.string)
    }
    return try decode(
      try post(command, body, type: "application/json", about: path, limit: limit), path)
  }

  /// Uploads one blob; rclone compares its hash with the remote's where that has one.
  func upload(
    _ bytes: UnsafeRawBufferPointer, to path: BlobPath, fs: String
  ) throws(BlobStoreError) {
    let boundary = "kinvault-\(UInt64.random(in: .min ... .max))\(UInt64.random(in: .min ... .max))"
    let name = path.name.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    var body = Array(
      """
      --\(boundary)\r
      Content-Disposition: form-data; name="file"; filename="\(name)"\r
      Content-Type: application/octet-stream\r
      \r\n
      """.utf8)
    body.append(contentsOf: bytes)
    body.append(contentsOf: "\r\n--\(boundary)--\r\n".utf8)
    let folder = path.parent ?? .root
    let query = "fs=\(PercentEncoding.encode(fs))&remote=\(PercentEncoding.encode(folder.string))"
    _ = try post(
      "operations/uploadfile?\(query)", body, type: "multipart/form-data; boundary=\(boundary)",
      about: path, limit: 1 << 20)
  }

  /// The bytes of a blob, or a part of it.
  func download(
    _ path: BlobPath, fs: String, headers: [(name: String, value: String)] = [], limit: Int
  ) throws(BlobStoreError) -> HTTPReply {
    let place = PercentEncoding.encode("[\(fs)]/\(path)", keeping: "/")
    return try alive { () throws(BlobStoreError) in
      try transport.send(
        HTTPCall(
          method: .GET, url: "\(base)/\(place)", headers: headers + [Self.host], path: path,
          limit: limit))
    }
  }

  private func post(
    _ command: String, _ body: [UInt8], type: String, about path: BlobPath, limit: Int
  ) throws(BlobStoreError) -> HTTPReply {
    let reply = try alive { () throws(BlobStoreError) in
      let sent = body.withUnsafeBytes { body -> Result<HTTPReply, BlobStoreError> in
        do throws(BlobStoreError) {
          return .success(
            try transport.send(
              HTTPCall(
                method: .POST, url: "\(base)/\(command)",
                headers: [(name: "Content-Type", value: type), Self.host], body: body, path: path,
                limit: limit)))
        } catch {
          return .failure(error)
        }
      }
      return try sent.get()
    }
    guard reply.isSuccess else { throw failure(reply, path) }
    return reply
  }

  /// The same failure, but `programFailed` when it is because rclone has ended.
  private func alive(
    _ call: () throws(BlobStoreError) -> HTTPReply
  ) throws(BlobStoreError) -> HTTPReply {
    do {
      return try call()
    } catch {
      throw program.hasEnded ? program.failure("it has ended") : error
    }
  }

  func failure(_ reply: HTTPReply, _ path: BlobPath) -> BlobStoreError {
    struct Failure: Decodable {
      var error: String
    }
    if reply.status == 404 { return .notFound(path: path.string) }
    // What is no such document is told as it is.
    let text = (try? JSONDecoder().decode(Failure.self, from: Data(reply.body)))?.error
    return .programFailed(
      program: "rclone",
      reason: ReplyText.oneLine(text ?? String(decoding: reply.body, as: UTF8.self)))
  }

  private func decode<Answer: Decodable>(
    _ reply: HTTPReply, _ path: BlobPath
  ) throws(BlobStoreError) -> Answer {
    do {
      return try JSONDecoder().decode(Answer.self, from: Data(reply.body))
    } catch {
      throw .unexpectedReply(
        path: path.string, status: 0, text: "rclone gave an answer that this version does not know")
    }
  }
}
