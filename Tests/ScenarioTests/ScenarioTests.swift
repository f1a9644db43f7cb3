import Glibc
import SystemPackage
import Testing

/// Every scenario of every file in `Scenarios`.
struct ScenarioTests {
  private static let folder = FilePath(#filePath).removingLastComponent().appending("Scenarios")

  /// All scenarios; a file that cannot be read or understood is a scenario that fails.
  private static let all: [Result<Scenario, ScenarioError>] = {
    guard let listing = opendir(folder.string) else { return [] }
    defer { closedir(listing) }
    var names: [String] = []
    while let entry = readdir(listing) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      names.append(String(decoding: bytes, as: UTF8.self))
    }
    return names.filter { $0.hasSuffix(".scenario") }.sorted().flatMap {
      name -> [Result<Scenario, ScenarioError>] in
      do throws(ScenarioError) {
        return try ScenarioParser.parse(text(of: name), file: name).map { .success($0) }
      } catch {
        return [.failure(error)]
      }
    }
  }()

  private static func text(of name: String) throws(ScenarioError) -> String {
    do {
      let file = try FileDescriptor.open(folder.appending(name), .readOnly)
      return try file.closeAfter {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        let count = try buffer.withUnsafeMutableBytes { try file.read(into: $0) }
        return String(decoding: buffer[..<count], as: UTF8.self)
      }
    } catch {
      throw ScenarioError(file: name, line: 0, text: "cannot be read: \(error)")
    }
  }

  @Test(arguments: all.indices) func happensAsItIsTold(number: Int) throws {
    do throws(ScenarioError) {
      let scenario = try Self.all[number].get()
      do {
        try ScenarioRunner(scenario).run()
      } catch let error as ScenarioError {
        Issue.record("“\(scenario.name)”\n\(error)")
      } catch {
        Issue.record("“\(scenario)”: \(error)")
      }
    } catch {
      Issue.record("\(error)")
    }
  }

  @Test func thereAreScenariosAndTheirNamesDiffer() throws {
    let names = try Self.all.map { try $0.get().name }
    #expect(names.count >= 50)
    #expect(Set(names).count == names.count)
  }
}
