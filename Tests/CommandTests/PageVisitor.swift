import SystemPackage
import TestSupport
import Testing

/// Somebody at the page with the code, who sends what forms send, also where the page shows none. By curl.
struct PageVisitor {
  struct Answer {
    let status: Int
    /// A line each, with their names in small letters.
    let headers: [String]
    let body: String

    func header(_ name: String) -> String? {
      headers.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
    }
  }

  private let page: RunningPage
  let jar: String
  /// What forms of the page carry.
  let form: String

  init(_ page: RunningPage, in folder: FilePath) throws {
    self.page = page
    jar = folder.appending("cookies").string
    let entrance = [
      "-s", "-o", "/dev/null", "-w", "%{http_code}", "-c", jar, "-d", "code=\(page.code)",
      page.address + "/enter",
    ]
    #expect(try CommandRunner.run("curl", entrance, environment: [:]).output == "200")
    let list = try Self.ask(page, jar, "/", [])
    let field = try #require(list.body.firstRange(of: "name=\"form\" content=\""), "\(list.body)")
    form = String(list.body[field.upperBound...].prefix { $0 != "\"" })
  }

  func get(_ path: String) throws -> Answer { try Self.ask(page, jar, path, []) }

  /// The addresses of the records that the list shows.
  func records() throws -> [String] {
    try get("/").body.matches(of: /\/records\/[0-9a-f]{32,64}\/[0-9a-f]{32,64}/)
      .map { String($0.output) }
  }

  /// A form of the page, filled in.
  ///
  /// - Parameter form: What it carries in the place of the page's secret; nil for nothing.
  func post(_ path: String, _ fields: [String: String] = [:], form: String?) throws -> Answer {
    var fields = fields
    fields["form"] = form
    return try send(path, ["-d", ""] + fields.flatMap { ["--data-urlencode", "\($0)=\($1)"] })
  }

  func post(_ path: String, _ fields: [String: String] = [:]) throws -> Answer {
    try post(path, fields, form: form)
  }

  /// A file that is dropped.
  func put(_ path: String, _ content: String, form: String?) throws -> Answer {
    let secret = form.map { ["-H", "X-Kinvault-Form: \($0)"] } ?? []
    return try send(path, ["-X", "PUT", "-d", content] + secret)
  }

  func put(_ path: String, _ content: String) throws -> Answer {
    try put(path, content, form: form)
  }

  private func send(_ path: String, _ words: [String]) throws -> Answer {
    try Self.ask(page, jar, path, ["-H", "Origin: \(page.address)"] + words)
  }

  /// A request of somebody without the cookie, or with another one.
  static func stranger(
    _ page: RunningPage, _ path: String, _ words: [String] = []
  ) throws -> Answer {
    try ask(page, "", path, words)
  }

  private static func ask(
    _ page: RunningPage, _ jar: String, _ path: String, _ words: [String]
  ) throws -> Answer {
    let cookies = jar.isEmpty ? [] : ["-b", jar]
    let result = try CommandRunner.run(
      "curl", ["-s", "-i", "-w", "\n%{http_code}"] + cookies + words + [page.address + path],
      environment: [:])
    let end = try #require(result.output.lastIndex(of: "\n"), "\(path): \(result.errors)")
    let status = try #require(Int(result.output[end...].dropFirst()))
    let whole = result.output[..<end].replacing("\r\n", with: "\n")
    // What comes before the answer itself is that a body may be sent.
    let parts = whole.split(separator: "\n\n", omittingEmptySubsequences: false)
    let skipped = parts.prefix { $0.hasPrefix("HTTP/1.1 100") }.count
    let headers = parts.dropFirst(skipped).first?.split(separator: "\n").dropFirst() ?? []
    return Answer(
      status: status,
      headers: headers.map { line in
        let name = line.prefix { $0 != ":" }
        return name.lowercased() + line[name.endIndex...]
      },
      body: parts.dropFirst(skipped + 1).joined(separator: "\n\n"))
  }
}
