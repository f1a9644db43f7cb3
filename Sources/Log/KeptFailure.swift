/// A failure as the state holds it, so that other processes can tell a person of it.
package struct KeptFailure: Hashable, Sendable {
  struct Key: Hashable, Sendable {
    var work: BackgroundWork
    var member: String?

    init(_ key: StandingFailures.Key) {
      work = key.work
      member = key.subject?.text
    }

    init(work: BackgroundWork, member: String?) {
      self.work = work
      self.member = member
    }
  }

  package let work: BackgroundWork
  /// The kind of the last error, in a word of the program.
  package let kind: String
  package let number: Int32?
  package let member: String?
  /// Milliseconds since 1970.
  package let first: UInt64
  package let last: UInt64
  package let count: UInt64

  var key: Key { Key(work: work, member: member) }

  init(_ failure: StandingFailures.Failure, _ key: StandingFailures.Key) {
    work = key.work
    kind = failure.kind.word.description
    number = failure.kind.number
    member = key.subject?.text
    (first, last, count) = (failure.first, failure.last, failure.count)
  }

  var line: String {
    let number = number.map(String.init) ?? "-"
    return "failed \(work.rawValue) \(kind) \(number) \(member ?? "-") \(first) \(last) \(count)"
  }

  /// Nil for a line that says nothing known.
  init?(line: Substring) {
    let fields = line.split(separator: " ")
    guard fields.count == 8, fields[0] == "failed",
      let work = BackgroundWork(rawValue: String(fields[1])), let first = UInt64(fields[5]),
      let last = UInt64(fields[6]), let count = UInt64(fields[7])
    else { return nil }
    self.work = work
    kind = String(fields[2])
    number = Int32(fields[3])
    member = fields[4] == "-" ? nil : String(fields[4])
    (self.first, self.last, self.count) = (first, last, count)
  }
}
