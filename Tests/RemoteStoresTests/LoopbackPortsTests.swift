import TestSupport
import Testing

/// Servers of tests do not take each other's ports.
struct LoopbackPortsTests {
  @Test func givesNoPortTwice() {
    let ports = (0..<4).flatMap { _ in LoopbackPorts.take(4) }
    #expect(Set(ports).count == 16)
    // Not even as the one after another, nor as the one 10,000 above it.
    #expect(ports.allSatisfy { $0.isMultiple(of: 2) && (11_000..<21_000).contains($0) })
  }

  @Test func startsAServerThatHasEndedOnOtherPorts() throws {
    var tried: [[UInt16]] = []
    let count = try LoopbackPorts.start(2) { ports in
      tried.append(ports)
      if tried.count < 3 { throw LoopbackPorts.ServerEnded("it", output: "address in use") }
      return tried.count
    }
    #expect(count == 3)
    #expect(Set(tried.joined()).count == 6)
  }

  @Test func givesUpAtLast() {
    var count = 0
    #expect(throws: LoopbackPorts.ServerEnded.self) {
      try LoopbackPorts.start { _ -> Void in
        count += 1
        throw LoopbackPorts.ServerEnded("it", output: "no")
      }
    }
    #expect(count == 5)
  }
}
