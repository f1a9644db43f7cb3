import Glibc
import Logging

/// One line of the log, before it is written somewhere.
package struct LogLine: Sendable {
  let level: Logger.Level
  let message: String
  /// By name.
  let fields: [(name: String, value: String)]

  /// What happened, and the fields after it.
  package var text: String {
    fields.reduce(message) { "\($0) \($1.name)=\($1.value)" }
  }

  /// syslog's number of the level.
  var priority: Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// The time as the log file has it, in UTC.
  static func timestamp() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let count = strftime(&text, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
    return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

/// Where lines go.
package protocol LogDestination: Sendable {
  /// Returns at once or after little I/O.
  ///
  /// - Returns: False if the line is nowhere.
  func write(_ line: LogLine) -> Bool
}

/// Gives each line to the first of several destinations that takes it; one that none takes is dropped.
struct DestinationHandler: LogHandler {
  let destinations: [any LogDestination]
  var metadata: Logger.Metadata = [:]
  var metadataProvider: Logger.MetadataProvider?
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: Logging.LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    let line = LogLine(
      level: event.level, message: event.message.description,
      fields: all.sorted { $0.key < $1.key }.map { ($0.key, $0.value.description) })
    for destination in destinations where destination.write(line) { return }
  }
}

extension Logger {
  /// A logger that writes to the first of these that takes a line, and names the vault in each.
  package init(_ destinations: [any LogDestination], vault: LogValue) {
    self.init(label: "kinvault") { _ in DestinationHandler(destinations: destinations) }
    self[metadataKey: "vault"] = "\(vault.text)"
  }
}
