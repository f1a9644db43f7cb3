import Foundation
import SystemPackage
import TestSupport
import Testing

/// The page's door from outside: what each answer says to a browser, whom a request is not done for, and when it is over.
@Suite(.timeLimit(.minutes(60))) struct PageDoorTests {
  private let program: Program
  private let running: RunningPage

  init() throws {
    program = try Program.withVault()
    try program.run(
      "record", "add", "--member", "Emma", "--title", "Wrist", "--date", "2025-01-20",
      expecting: 0)
    running = try RunningPage(program)
  }

  private func visitor() throws -> PageVisitor { try PageVisitor(running, in: program.folder.path) }

  private func end() throws {
    running.command.signal(SIGTERM)
    #expect(try running.end() == 0)
  }

  private func record(_ visitor: PageVisitor) throws -> String {
    try #require(visitor.records().first)
  }

  @Test func everyAnswerSaysWhatABrowserMayDoWithIt() throws {
    let visitor = try visitor()
    let record = try record(visitor)
    #expect(try visitor.put("\(record)/files?name=a.txt", "text").status == 201)
    var answers = try [
      "/", "/new", "/people", "/vault", "/journal", "/conflicts", "/deleted", "/style.css",
      "/page.js", "/news.js", "/nothing", record, "\(record)/files/612e747874/copy",
      "\(record)/files/612e747874/picture",
    ].map { ($0, try visitor.get($0)) }
    answers.append(("without the cookie", try PageVisitor.stranger(running, "/")))
    answers.append(
      ("another name", try PageVisitor.stranger(running, "/", ["-H", "Host: a.test"])))
    answers.append(("another method", try PageVisitor.stranger(running, "/", ["-X", "DELETE"])))
    answers.append(
      (
        "another page",
        try PageVisitor.stranger(running, "/", ["-H", "Sec-Fetch-Site: cross-site"])
      ))
    for (what, answer) in answers {
      let policy = answer.header("content-security-policy") ?? ""
      #expect(policy.hasPrefix("default-src 'none'; "), "\(what)")
      #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "\(what)")
      #expect(answer.header("x-content-type-options") == "nosniff", "\(what)")
      #expect(answer.header("cache-control") == "no-store", "\(what)")
      #expect(answer.header("x-dns-prefetch-control") == "off", "\(what)")
      #expect(answer.header("cross-origin-resource-policy") == "same-origin", "\(what)")
      // No other page is let in, and nobody gets a cookie by asking.
      #expect(!answer.headers.contains { $0.hasPrefix("access-control-") }, "\(what)")
      #expect(answer.header("set-cookie") == nil, "\(what)")
    }
    // To those who are not in, nothing tells what this is the page of.
    for (what, answer) in answers.suffix(4) {
      #expect(answer.status >= 400, "\(what)")
      for word in ["Emma", "Wrist", "Adult"] {
        #expect(!answer.body.contains(word), "\(what): \(word)")
      }
    }
    try end()
  }

  @Test func theCookieIsForThisPageAlone() throws {
    let answer = try PageVisitor.stranger(running, "/enter", ["-d", "code=\(running.code)"])
    let cookie = try #require(answer.header("set-cookie"))
    let parts = cookie.split(separator: ";").map { $0.trimmingPrefix(" ").lowercased() }
    #expect(parts.contains("httponly") && parts.contains("samesite=strict"))
    #expect(!parts.contains { $0.hasPrefix("domain") })
    // The code was good once.
    let again = try PageVisitor.stranger(running, "/enter", ["-d", "code=\(running.code)"])
    #expect(again.status == 401 && again.header("set-cookie") == nil)
    try end()
  }

  @Test(arguments: [nil, "", "0123456789abcdef0123456789abcdef"])
  func aFormWithoutItsSecretIsNotDone(secret: String?) throws {
    let visitor = try visitor()
    let record = try record(visitor)
    let member = String(record.split(separator: "/")[1])
    for path in [
      "/new", "/search", "/lock", "/stay", "/people/invite", "/vault/sync", "/vault/check",
      "/vault/name", "/access/\(member)/share", "\(record)/edit", "\(record)/delete",
      "\(record)/move", "\(record)/restore", "\(record)/files", "/conflicts/\(record.dropFirst(9))",
    ] {
      let answer = try visitor.post(
        path, ["member": member, "type": "note", "title": "Mine", "name": "Mine"], form: secret)
      #expect((400..<500).contains(answer.status), "\(path): \(answer.status)")
    }
    #expect(try visitor.put("\(record)/files?name=a", "text", form: secret).status == 403)
    #expect(try visitor.get("/vault/work").status == 303)
    let listed = try program.run("record", "list", "--all", expecting: 0).output
    #expect(listed.contains("Wrist") && !listed.contains("Mine"))
    #expect(try visitor.get("/").status == 200)
    try end()
  }

  /// What is attached never runs as a page of this origin.
  @Test(arguments: [
    ("a.html", "<script>alert(1)</script>"),
    ("a.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"),
    ("a.xml", "<?xml-stylesheet href=\"x\"?><a/>"), ("a.js", "alert(1)"),
  ])
  func anAttachedPageIsNotOne(name: String, content: String) throws {
    let visitor = try visitor()
    let record = try record(visitor)
    #expect(try visitor.put("\(record)/files?name=\(name)", content).status == 201)
    let digits = name.utf8.map { String($0, radix: 16) }.joined()
    let copy = try visitor.get("\(record)/files/\(digits)/copy")
    #expect(copy.status == 200 && copy.body == content)
    #expect(copy.header("content-type") == "application/octet-stream")
    #expect(copy.header("content-disposition")?.hasPrefix("attachment") == true)
    for path in ["", "/picture", "/page"] {
      let shown = try visitor.get("\(record)/files/\(digits)\(path)")
      #expect(!shown.body.contains("<script>alert") && !shown.body.contains("<?xml"), "\(path)")
    }
    try end()
  }

  /// Whoever locks the vault by a command has locked the page, which ends by itself.
  @Test func itEndsWhenTheVaultIsLocked() throws {
    let visitor = try visitor()
    #expect(try visitor.get("/").status == 200)
    try program.run("lock", expecting: 0)
    #expect(try running.end() == 0)
  }

  /// Nothing of a file is attached whose upload was under way when the vault was locked.
  @Test func aLockInTheMiddleOfAnUpload() throws {
    let visitor = try visitor()
    let record = try record(visitor)
    let file = program.folder.appending("large").string
    let made = try CommandRunner.run("head", ["-c", "40M", "/dev/urandom"])
    try Data(made.standardOutput).write(to: URL(filePath: file))
    let upload = try RunningCommand(
      "curl",
      [
        "-s", "-o", "/dev/null", "-w", "%{http_code}", "--limit-rate", "2M", "-b", visitor.jar,
        "-H", "X-Kinvault-Form: \(visitor.form)", "-H", "Origin: \(running.address)", "-T", file,
        "\(running.address)\(record)/files?name=large.bin",
      ], environment: [:])
    usleep(2_000_000)
    #expect(!upload.hasEnded())
    #expect(try visitor.post("/lock").status == 401)
    let told = upload.wait()
    // It is told, or cut off as the page is gone.
    #expect(told.output == "401" || told.output == "000", "\(told.output)")
    #expect(try running.end() == 0)
    try program.run("unlock", expecting: 0)
    let shown = try program.run("record", "show", "Emma/Notes/2025-01-20 Wrist", expecting: 0)
      .output
    #expect(!shown.contains("large.bin"), "\(shown)")
    try program.run("check", expecting: 0)
  }

  /// Another user of this machine, who has found the port and the name: nothing, and the file that lets a browser in is not
  /// theirs to read, and soon gone.
  @Test(.enabled(if: getuid() == 0)) func anotherUserOfThisMachineGetsNothing() throws {
    let visitor = try visitor()
    let other = try CommandRunner.run(
      "setpriv",
      [
        "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "-s", "-w", "\n%{http_code}",
        "\(running.address)/",
      ], environment: program.environment)
    #expect(other.output.hasSuffix("\n401"), "\(other.output)\(other.errors)")
    #expect(!other.output.contains("Emma") && !other.output.contains("Wrist"))
    #expect(try visitor.get("/").status == 200)
    try end()

    // A browser that says what it was given, and reads it as somebody else.
    let folder = program.folder.appending("bin").string
    let told = program.folder.appending("told").string
    #expect(mkdir(folder, 0o755) == 0)
    try program.write(
      """
      #!/bin/sh
      stat -c '%a %u' "$1" >'\(told)'
      setpriv --reuid=65534 --regid=65534 --clear-groups cat "$1" >>'\(told)' 2>/dev/null
      echo "$1" >>'\(told)'
      echo end >>'\(told)'
      """, to: "\(folder)/xdg-open")
    #expect(chmod("\(folder)/xdg-open", 0o755) == 0)
    let opened = try RunningCommand(
      Program.executable, ["open"],
      environment: program.environment.merging(["PATH": "\(folder):/usr/bin:/bin"]) { $1 })
    var lines: [Substring] = []
    for _ in 0..<6000 where lines.last != "end" {
      usleep(20_000)
      lines = ((try? String(contentsOfFile: told, encoding: .utf8)) ?? "").split(separator: "\n")
    }
    #expect(lines.count == 3 && lines.first == "600 0", "\(lines)")
    opened.signal(SIGTERM)
    #expect(opened.wait().status == 0)
    #expect(access(String(lines.dropFirst().first ?? ""), F_OK) != 0)
  }
}
