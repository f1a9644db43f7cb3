import AsyncHTTPClient
import BlobStore
import NIOCore
import NIOHTTP1
import Threads

/// An answer that does not end, of which every line is told as it comes.
package final class HTTPListening: Sendable {
  private let task: Result<HTTPClient.Task<HTTPReply>, BlobStoreError>
  private let failure: @Sendable (any Error) -> BlobStoreError

  init(
    _ task: Result<HTTPClient.Task<HTTPReply>, BlobStoreError>,
    failure: @escaping @Sendable (any Error) -> BlobStoreError
  ) {
    (self.task, self.failure) = (task, failure)
  }

  /// Returns when the answer has ended, or was cancelled.
  ///
  /// - Throws: Why there is none.
  package func wait() throws(BlobStoreError) {
    let reply: HTTPReply
    let task = try task.get()
    do { reply = try task.wait() } catch {
      if (error as? HTTPClientError) == .cancelled { return }
      throw failure(error)
    }
    guard reply.isSuccess else { throw reply.failure(BlobPath("doorbell")) }
  }

  /// Ends it, from any thread.
  package func cancel() { if case .success(let task) = task { task.cancel() } }
}

/// Tells of the lines of an answer, and keeps no more of it than the line that is coming.
final class LineListener: HTTPClientResponseDelegate {
  typealias Response = HTTPReply

  private struct State {
    var reply: HTTPReply?
    var line: [UInt8] = []
    var lastProgress = NIODeadline.now()
  }

  /// A line is taken to be no longer than this.
  private static let lineLimit = 4 << 10

  private let state = Guarded(State())
  /// Called with nil when the answer begins, then with every line that is not empty.
  private let onLine: @Sendable (String?) -> Void

  init(_ onLine: @escaping @Sendable (String?) -> Void) { self.onLine = onLine }

  /// When bytes last came.
  var lastProgress: NIODeadline { state.withLock { $0.lastProgress } }

  func didReceiveHead(
    task: HTTPClient.Task<HTTPReply>, _ head: HTTPResponseHead
  ) -> EventLoopFuture<Void> {
    let reply = HTTPReply(status: Int(head.status.code), headers: head.headers, body: [])
    state.withLock { state in
      state.lastProgress = .now()
      state.reply = reply
    }
    if reply.isSuccess { onLine(nil) }
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didReceiveBodyPart(
    task: HTTPClient.Task<HTTPReply>, _ buffer: ByteBuffer
  ) -> EventLoopFuture<Void> {
    let lines = state.withLock { state -> [String] in
      state.lastProgress = .now()
      guard state.reply?.isSuccess == true else { return [] }
      var lines: [String] = []
      for byte in buffer.readableBytesView {
        if byte == UInt8(ascii: "\n") {
          if !state.line.isEmpty { lines.append(String(decoding: state.line, as: UTF8.self)) }
          state.line = []
        } else if state.line.count < Self.lineLimit {
          state.line.append(byte)
        }
      }
      return lines
    }
    // One ring is as good as many.
    Set(lines).forEach(onLine)
    return task.eventLoop.makeSucceededVoidFuture()
  }

  func didFinishRequest(task: HTTPClient.Task<HTTPReply>) throws -> HTTPReply {
    guard let reply = state.withLock({ $0.reply }) else {
      throw HTTPClientError.remoteConnectionClosed
    }
    return reply
  }
}
