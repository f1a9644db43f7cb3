import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Threads

/// Gathers an answer, and gives up as soon as it is larger than it may be.
final class BodyCollector: HTTPClientResponseDelegate {
  typealias Response = HTTPReply

  struct TooLarge: Error {
    var size: UInt64
  }

  private struct State {
    var reply: HTTPReply?
    var limit: Int
    var lastProgress = NIODeadline.now()
  }

  private let state: Guarded<State>
  private let hasBody: Bool

  init(_ call: HTTPCall) {
    state = Guarded(State(reply: nil, limit: max(call.limit, 0)))
    hasBody = call.method != .HEAD
  }

  /// Whether any of an answer has come.
  var hasBegun: Bool { state.withLock { $0.reply != nil } }

  /// When bytes last went in either direction.
  var lastProgress: NIODeadline { state.withLock { $0.lastProgress } }

  private func noteProgress() { state.withLock { $0.lastProgress = .now() } }

  func didSendRequestHead(task: HTTPClient.Task<HTTPReply>, _ head: HTTPRequestHead) {
    noteProgress()
  }

  func didSendRequestPart(task: HTTPClient.Task<HTTPReply>, _ part: IOData) { noteProgress() }

  func didReceiveHead(
    task: HTTPClient.Task<HTTPReply>, _ head: HTTPResponseHead
  ) -> EventLoopFuture<Void> {
    let reply = HTTPReply(status: Int(head.status.code), headers: head.headers, body: [])
    let error = state.withLock { state -> TooLarge? in
      state.lastProgress = .now()
      state.reply = reply
      guard hasBody, reply.isSuccess, let length = reply.contentLength else { return nil }
      if length > UInt64(state.limit) { return TooLarge(size: length) }
      state.reply?.body.reserveCapacity(Int(length))
      return nil
    }
    return finish(task, error)
  }

  func didReceiveBodyPart(
    task: HTTPClient.Task<HTTPReply>, _ buffer: ByteBuffer
  ) -> EventLoopFuture<Void> {
    let error = state.withLock { state -> TooLarge? in
      state.lastProgress = .now()
      guard let known = state.reply?.body.count, state.reply?.isSuccess == true else {
        let room = HTTPReply.errorTextLimit - (state.reply?.body.count ?? 0)
        state.reply?.body.append(contentsOf: buffer.readableBytesView.prefix(max(room, 0)))
        return nil
      }
      if buffer.readableBytes > state.limit - known {
        return TooLarge(size: UInt64(known + buffer.readableBytes))
      }
      state.reply?.body.append(contentsOf: buffer.readableBytesView)
      return nil
    }
    return finish(task, error)
  }

  private func finish(
    _ task: HTTPClient.Task<HTTPReply>, _ error: TooLarge?
  ) -> EventLoopFuture<Void> {
    guard let error else { return task.eventLoop.makeSucceededVoidFuture() }
    return task.eventLoop.makeFailedFuture(error)
  }

  func didFinishRequest(task: HTTPClient.Task<HTTPReply>) throws -> HTTPReply {
    guard let reply = state.withLock({ $0.reply }) else {
      throw HTTPClientError.remoteConnectionClosed
    }
    return reply
  }
}
