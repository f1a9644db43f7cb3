import Fuzzing
import Testing

@testable import Window

@Suite struct MultipartReaderTests {
  private struct Part: Equatable {
    var name: String
    var fileName: String?
    var bytes: [UInt8] = []
    var isWhole = false
  }

  private static let boundary = "----WebKitFormBoundary7MA4YWxkTrZu0gW"

  private func body(_ parts: [(disposition: String, bytes: [UInt8])]) -> [UInt8] {
    var all: [UInt8] = []
    for part in parts {
      all += Array(
        "--\(Self.boundary)\r\nContent-Disposition: form-data; \(part.disposition)\r\n".utf8)
      all += Array("Content-Type: application/octet-stream\r\n\r\n".utf8) + part.bytes
      all += Array("\r\n".utf8)
    }
    return all + Array("--\(Self.boundary)--\r\n".utf8)
  }

  /// What comes of a body that is fed in pieces of this size.
  private func parts(_ body: [UInt8], step: Int) throws -> (parts: [Part], isOver: Bool) {
    var reader = try #require(
      MultipartReader(contentType: "multipart/form-data; boundary=\(Self.boundary)"))
    var parts: [Part] = []
    for start in stride(from: 0, to: body.count, by: step) {
      for piece in try reader.add(body[start..<min(start + step, body.count)]) {
        switch piece {
        case .begin(let name, let fileName): parts.append(Part(name: name, fileName: fileName))
        case .bytes(let bytes): parts[parts.count - 1].bytes += bytes
        case .end: parts[parts.count - 1].isWhole = true
        }
      }
    }
    return (parts, reader.isOver)
  }

  /// Contents that look like delimiters, cut at every place.
  @Test func contentsComeBackHoweverTheyAreCut() throws {
    var random = SeededRandom(seed: 17)
    let nearly = Array("\r\n--\(Self.boundary.dropLast())".utf8)
    let contents: [[UInt8]] = [
      Array("secret".utf8), [], nearly + nearly + [13, 10, 13], random.bytes(5_000),
      Array("\r\n\r\n--\r\n".utf8), [13], [13, 10],
    ]
    let body = body(
      contents.enumerated().map { number, bytes in
        (number == 0 ? "name=\"form\"" : "name=\"files\"; filename=\"f\(number)\"", bytes)
      })
    for step in [1, 2, 3, 7, 44, 45, 64, 1_000, body.count] {
      let (parts, isOver) = try parts(body, step: step)
      #expect(isOver)
      #expect(parts.map(\.bytes) == contents)
      #expect(parts.filter { !$0.isWhole }.isEmpty)
      #expect(parts.map(\.name) == ["form"] + Array(repeating: "files", count: 6))
      #expect(parts.dropFirst().map(\.fileName) == (1...6).map { "f\($0)" })
    }
  }

  @Test func namesAreAsBrowsersWriteThem() throws {
    let body = body([
      ("name=\"files\"; filename=\"a %22quoted%22 name; name=x.jpg\"", []),
      ("name=\"files\"; filename=\"Impfpaß ليلى.pdf\"", []),
      ("name=\"files\"; filename=\"\"", []),
    ])
    let (parts, _) = try parts(body, step: body.count)
    #expect(
      parts.map(\.fileName) == ["a \"quoted\" name; name=x.jpg", "Impfpaß ليلى.pdf", ""])
  }

  @Test func whatIsCutIsNotOver() throws {
    let body = body([("name=\"files\"; filename=\"f\"", [1, 2, 3])])
    for count in [0, 1, 60, body.count - 4] {
      let isOver = try parts(Array(body.prefix(count)), step: 16).isOver
      #expect(!isOver)
    }
  }

  @Test func whatIsMalformedIsRefused() throws {
    let delimiter = "--\(Self.boundary)"
    let bodies = [
      "\(delimiter)x\r\n\r\n", "\(delimiter)\r\nContent-Type: text/plain\r\n\r\n",
      "\(delimiter)\r\nContent-Disposition: form-data\r\n\r\n",
      "\(delimiter)\r\n" + String(repeating: "x", count: 9_000),
    ]
    for body in bodies {
      #expect(throws: MultipartReader.Malformed.self) {
        _ = try parts(Array(body.utf8), step: 1_000)
      }
    }
    let types = [
      "text/plain; boundary=x", "multipart/form-data", "multipart/form-data; boundary=",
      "multipart/form-data; boundary=" + String(repeating: "x", count: 71), "",
    ]
    for type in types { #expect(MultipartReader(contentType: type) == nil, "\(type)") }
  }
}
