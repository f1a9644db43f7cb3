import Glibc
import Log
import Testing
import Threads

@testable import Window

/// When a page ends by itself.
@Suite(.timeLimit(.minutes(60))) struct CaretakerTests {
  private let desk = Desk(ClosedGate())
  private let tabs = Tabs()

  private func caretaker(_ limits: Caretaker.Limits) -> Caretaker {
    Caretaker(limits: limits, desk: desk, tabs: tabs, log: .silent) {}
  }

  /// What a tab was told until it was told that it is over.
  private func told(_ events: AsyncStream<Tabs.Event>) async -> [String] {
    var all: [String] = []
    for await event in events {
      all.append("\(event)")
      if case .locked = event { break }
    }
    return all
  }

  @Test func whenNobodyWantsAnythingItIsSaidAndThenItIsOver() async {
    let tab = tabs.open()
    // A process that is stopped for some seconds in between comes to say it all the same.
    let caretaker = caretaker(
      .init(idle: .seconds(14), warning: .seconds(12), tabless: .seconds(60)))
    let began = ContinuousClock.now
    _ = SystemThread.detach { caretaker.run() }
    let told = await told(tab.events)
    #expect(told.contains("soon") && told.last == "locked", "\(told)")
    #expect(desk.isLocked && ContinuousClock.now - began >= .seconds(14))
  }

  // These wait by themselves: whoever hands out threads to asynchronous tests may be late by any time.

  @Test func whoeverUsesItKeepsIt() {
    let tab = tabs.open()
    // Longer than a process is stopped that is not alone on its machine.
    let caretaker = caretaker(
      .init(idle: .seconds(12), warning: .seconds(1), tabless: .seconds(60)))
    _ = SystemThread.detach { caretaker.run() }
    for _ in 0..<64 {
      desk.noteUse()
      usleep(250_000)
    }
    #expect(!desk.isLocked)
    waitForTheEnd()
    #expect(desk.isLocked)
    tab.close()
  }

  @Test func whenTheLastTabIsGoneItIsOver() {
    let (first, second) = (tabs.open(), tabs.open())
    let caretaker = caretaker(.init(idle: .seconds(600), warning: .zero, tabless: .seconds(2)))
    _ = SystemThread.detach { caretaker.run() }
    first.close()
    usleep(4_000_000)
    #expect(!desk.isLocked)
    second.close()
    waitForTheEnd()
    #expect(desk.isLocked)
  }

  private func waitForTheEnd() {
    for _ in 0..<2400 where !desk.isLocked { usleep(50_000) }
  }
}
