import Glibc
import Log
import Logging
import Testing
import Threads
import VaultModel

@testable import Window

/// What takes long, and what is left of it where nobody looks.
@Suite struct WorkTests {
  private final class Lines: LogDestination {
    private let all = Guarded<[String]>([])
    var texts: [String] { all.withLock { $0 } }

    func write(_ line: LogLine) -> Bool {
      all.withLock { $0.append(line.text) }
      return true
    }
  }

  @Test func whatFailsIsInTheLog() {
    let lines = Lines()
    let log = BackgroundLog(Logger([lines], vault: LogValue(VaultID.zero)), failures: nil)
    let desk = Desk(ClosedGate())
    let work = Work(desk: desk, tabs: Tabs(), log: log)
    // There is no vault, as where somebody has locked the page before it could begin.
    #expect(work.begin(.check) { _, _ in .done })
    for _ in 0..<2400 where lines.texts.isEmpty { usleep(50_000) }
    #expect(lines.texts.count == 1)
    #expect(lines.texts.first?.hasPrefix("page failed count=1 kind=other ") == true)
    #expect(lines.texts.first?.hasSuffix(" work=check") == true)
  }
}
