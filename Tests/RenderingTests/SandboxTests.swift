import Glibc
import TestSupport
import Testing

/// What `kv_confine` leaves, tried by a program that is made for it.
@Suite struct SandboxTests {
  /// What came of each attempt, as an error number.
  private func attempts(_ word: String) throws -> [(name: String, error: Int32)] {
    let result = try CommandRunner.run(Built.path("sandbox-probe"), [word])
    #expect(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: "\n").map { line in
      let words = line.split(separator: " ")
      try #require(words.count == 2)
      return (String(words[0]), try #require(Int32(words[1])))
    }
  }

  @Test func nothingCanBeOpenedSentOrBegun() throws {
    // What fails by itself would fail confined, and prove nothing.
    let free = try attempts("free")
    for (name, error) in free { #expect(error == 0, "\(name)") }
    let confined = try attempts("confined")
    #expect(confined.count > 25 && confined.map(\.name) == free.map(\.name))
    for (name, error) in confined { #expect(error == EPERM, "\(name): \(error)") }
  }

  @Test func noPathLeadsAnywhereEvenWithoutTheFilter() throws {
    let found = try attempts("landlock")
    // What is open stays open: it is the filter that takes that.
    var expected: [(String, Int32)] = [("read-inherited", 0)]
    expected += ["open", "list", "create", "make-folder", "exec"].map { ($0, EACCES) }
    if found.map(\.name) == ["absent"] {
      print("This kernel has no Landlock: the second wall is not tested.")
      expected = [("absent", 0)]
    }
    #expect(found.elementsEqual(expected) { $0.name == $1.0 && $0.error == $1.1 }, "\(found)")
  }

  @Test func memoryEnds() throws {
    let found = try attempts("memory")
    #expect(found.map(\.name) == ["half", "whole"])
    #expect(found.first?.error == 0 && found.last?.error != 0)
  }
}
