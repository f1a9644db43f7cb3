import Testing
import Threads

@testable import kinvault

@Suite struct WaitNoticeTests {
  /// What was told, and somebody who waits for it.
  private final class Listener: Sendable {
    private let told = Monitor([String]())

    func hear(_ text: String) { told.change { $0.append(text) } }

    /// Returns when this was told.
    func wait(for text: String) {
      told.wait { $0.contains(text) ? Monitor<[String]>.Look<Void>.answer(()) : .wait }
    }

    var all: [String] { told.withLock { $0 } }
  }

  private let listener = Listener()

  private func makeNotice(patience: Duration) -> WaitNotice {
    WaitNotice(patience: patience) { [listener] in listener.hear($0) }
  }

  @Test func eachIsSaidOnceWhenItTakesLonger() {
    let notice = makeNotice(patience: .zero)
    for text in ["one", "two"] {
      notice.during {
        notice.waits(for: text)
        listener.wait(for: text)
      }
    }
    #expect(listener.all == ["one", "two"])
  }

  @Test func whatIsDoneInTimeIsNotSaid() {
    let notice = makeNotice(patience: .seconds(3600))
    notice.during { notice.waits(for: "one") }
    #expect(listener.all == [])
  }
}
