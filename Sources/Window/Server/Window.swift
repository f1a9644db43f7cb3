import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Log
import Logging
import NIOCore
import NIOPosix
import Threads

/// The page: serves one vault to this machine's browsers until somebody locks it, or nobody uses it any more.
///
/// The one place of the program with asynchronous code, since the server is. It ends where a request is handed to a thread.
package final class Window: Sendable {
  /// It is told where the page is, once that can be asked for.
  package struct Opening: Sendable {
    /// `http://k….localhost:34567`.
    package let origin: String
    /// For a file that a browser opens: where the code goes, and the code.
    package let entrance: String
    package let launchCode: String
    /// For somebody who types it.
    package let typedCode: String
  }

  private let desk: Desk
  private let door = Door()
  private let tabs = Tabs()
  private let work: Work
  private let log: BackgroundLog
  private let stopping = AsyncStream<Void>.makeStream()

  /// Others may connect as well: as many as leave the vault the files that it needs open, and none that says nothing.
  private static let connectionLimit = 256
  private static let patience = TimeAmount.seconds(15)
  /// How long pages that are open learn that it is over.
  private static let farewell = Duration.seconds(20)

  package init(_ gate: any VaultGate, log: BackgroundLog) {
    desk = Desk(gate)
    work = Work(desk: desk, tabs: tabs, log: log)
    self.log = log
  }

  /// Serves until it is over; the vault is closed then.
  ///
  /// - Throws: `IOError` where no port of the loopback can be had; what closing the vault throws.
  package func run(_ whenReady: @escaping @Sendable (Opening) -> Void) throws {
    let outcome = Monitor<Result<Void, any Error>?>(nil)
    Task {
      let result: Result<Void, any Error>
      do { result = .success(try await serve(whenReady)) } catch { result = .failure(error) }
      outcome.change { $0 = result }
    }
    let result = outcome.wait { outcome in outcome.map { .answer($0) } ?? .wait }
    try desk.end()
    try result.get()
  }

  /// Whether a browser has come in.
  package var hasVisitors: Bool { door.hasVisitors }

  /// Ends it at once, as on a signal.
  package func stop() {
    stopping.continuation.finish()
  }

  private func serve(_ whenReady: @escaping @Sendable (Opening) -> Void) async throws {
    let threads = NIOThreadPool(numberOfThreads: 8)
    threads.start()
    defer { threads.shutdownGracefully { _ in } }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let name = "k\(Secret.random().text.prefix(24)).localhost"
    let sockets = try LoopbackSockets.find()
    let rules = DoorRules(host: "\(name):\(sockets.port)")
    let site = Site(
      desk: desk, door: door, tabs: tabs, work: work, rules: rules, threads: threads, log: log)
    let responder = site.router().buildResponder()
    try startCaretaker()
    let noteRunning = runningNote(count: sockets.addresses.count, rules, whenReady)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for address in sockets.addresses {
        let application = Application(
          responder: responder,
          server: .http1(configuration: .init(idleTimeout: Self.patience)),
          configuration: Self.configuration(address, sockets),
          onServerRunning: { _ in noteRunning() },
          eventLoopGroupProvider: .shared(group), logger: Self.silentLogger)
        tasks.addTask { try await application.run() }
      }
      tasks.addTask { [stopping] in for await _ in stopping.stream {} }
      // Whatever is over first ends it.
      try await tasks.next()
      tasks.cancelAll()
    }
  }

  /// What is called for each address that is served, and calls `whenReady` for the last: only once both are ours, since
  /// whoever has one of them would be taken for the page.
  private func runningNote(
    count: Int, _ rules: DoorRules, _ whenReady: @escaping @Sendable (Opening) -> Void
  ) -> @Sendable () -> Void {
    let waiting = Guarded(count)
    return { [door] in
      let areAllRunning = waiting.withLock { waiting in
        waiting -= 1
        return waiting == 0
      }
      guard areAllRunning else { return }
      whenReady(
        Opening(
          origin: rules.origin, entrance: rules.origin + DoorRules.entrance,
          launchCode: door.launchCode(), typedCode: door.typedCode()))
    }
  }

  private func startCaretaker() throws {
    let caretaker = Caretaker(desk: desk, tabs: tabs, log: log) { [self] in
      door.close()
      sleep(UInt32(Self.farewell.components.seconds))
      stop()
    }
    guard SystemThread.detach(caretaker.run) else { throw LoopbackSockets.Failure() }
  }

  private static func configuration(
    _ address: String, _ sockets: LoopbackSockets
  ) -> ApplicationConfiguration {
    ApplicationConfiguration(
      address: .hostname(address, port: sockets.port), serverName: nil, reuseAddress: true,
      availableConnectionsDelegate: .maximum(connectionLimit, logger: silentLogger))
  }

  /// What the server would log of requests has addresses in it.
  private static let silentLogger = Logger(label: "window") { _ in SwiftLogNoOpLogHandler() }
}
