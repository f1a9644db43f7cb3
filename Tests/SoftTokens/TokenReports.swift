/// What goes to and fro between libfido2 and a token: messages cut into reports of 64 bytes (CTAP 2.0 section 8.1).
struct TokenReports {
  static let size = 64

  private let token: SoftToken
  private var incoming: [UInt8] = []
  private var command: UInt8 = 0
  private var wanted = 0
  private var channel: [UInt8] = []
  /// What the token has answered and nobody has read yet.
  var outgoing: [[UInt8]] = []

  init(to token: SoftToken) { self.token = token }

  /// Takes a report, without the byte before it that says its number, and answers the message that it ends.
  mutating func take(_ report: [UInt8]) {
    guard report.count == Self.size else { return }
    let isFirst = report[4] & 0x80 != 0
    if isFirst {
      channel = Array(report.prefix(4))
      command = report[4] & 0x7f
      wanted = Int(report[5]) << 8 | Int(report[6])
      incoming = Array(report.dropFirst(7))
    } else {
      incoming += report.dropFirst(5)
    }
    guard incoming.count >= wanted else { return }
    let message = Array(incoming.prefix(wanted))
    switch command {
    case 0x06:
      // A channel for whoever asks; it speaks CBOR and nothing older.
      send(message + [1, 2, 3, 4, 2, 1, 0, 0, 0x0c])
    case 0x10: send(token.answer(message))
    default: break
    }
  }

  private mutating func send(_ message: [UInt8]) {
    var rest = message[...]
    var report =
      channel + [command | 0x80, UInt8(message.count >> 8), UInt8(message.count & 0xff)]
    var sequence: UInt8 = 0
    while true {
      let part = rest.prefix(Self.size - report.count)
      rest = rest.dropFirst(part.count)
      report += part
      report += [UInt8](repeating: 0, count: Self.size - report.count)
      outgoing.append(report)
      if rest.isEmpty { return }
      report = channel + [sequence]
      sequence += 1
    }
  }
}
