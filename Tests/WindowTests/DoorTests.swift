import Testing

@testable import Window

/// Who is let in, and whose requests are answered.
@Suite struct DoorTests {
  private let rules = DoorRules(host: "k1.localhost:4711")

  private func refusal(_ change: (inout DoorRules.Head) -> Void) -> DoorRules.Refusal? {
    var head = DoorRules.Head(host: "k1.localhost:4711")
    change(&head)
    return rules.refusal(of: head)
  }

  /// A page of somebody else has its name point here: the browser says that name.
  @Test(arguments: [
    nil, "", "evil.example:4711", "localhost:4711", "127.0.0.1:4711", "k1.localhost",
    "k1.localhost:80", "K1.localhost:4711", "k1.localhost.:4711", "k1.localhost:4711.evil.example",
  ])
  func onlyItsOwnNameIsAnswered(host: String?) {
    #expect(refusal { $0.host = host } == .otherHost)
    #expect(
      refusal {
        $0.host = host
        $0.method = "POST"
        $0.origin = "http://k1.localhost:4711"
      } == .otherHost)
  }

  @Test func whatAnotherPageAsksForIsNotAnswered() {
    for site in ["cross-site", "same-site", "anything"] {
      #expect(refusal { $0.fetchSite = site } == .foreign)
      // A link that somebody follows: it comes without the cookie.
      #expect(
        refusal {
          $0.fetchSite = site
          $0.fetchMode = "navigate"
        } == nil)
    }
    for site in [nil, "same-origin", "none"] { #expect(refusal { $0.fetchSite = site } == nil) }
  }

  /// A note may name a picture at any address of the page: nobody has read or kept what only such a note has asked for.
  @Test func nothingIsAnsweredAsWhatItIsNot() {
    let uses = [
      ("/", "navigate", "document"), ("/records/a/b", "navigate", "document"),
      ("/records/a/b/files/61/copy", "navigate", "document"),
      ("/records/a/b/files/61/picture", "no-cors", "image"),
      ("/records/a/b/files/61/page", "no-cors", "image"), ("/events", "cors", "empty"),
      ("/favicon.ico", "no-cors", "image"), ("/style.css", "no-cors", "style"),
      ("/page.js", "cors", "script"),
      ("/news.js", "same-origin", "sharedworker"),
    ]
    for (path, mode, destination) in uses {
      func answer(_ mode: String, _ destination: String?) -> DoorRules.Refusal? {
        refusal {
          $0.path = path
          $0.fetchSite = "same-origin"
          $0.fetchMode = mode
          $0.fetchDestination = destination
        }
      }
      #expect(answer(mode, destination) == nil, "\(path)")
      #expect(answer(mode, nil) == nil)
      for other in ["image", "iframe", "object", "script", "style"] where other != destination {
        #expect(answer("no-cors", other) == .foreign, "\(path) as \(other)")
      }
    }
  }

  @Test(arguments: ["POST", "PUT"])
  func onlyItsOwnPagesChangeAnything(method: String) {
    for origin in [
      nil, "null", "http://evil.example", "http://k1.localhost", "https://k1.localhost:4711",
      "http://localhost:4711", "http://k1.localhost:4711.evil.example",
    ] {
      #expect(
        refusal {
          $0.method = method
          $0.path = "/new"
          $0.origin = origin
        } == .foreign)
    }
    for site in [nil, "same-origin", "cross-site", "same-site"] {
      let answer = refusal {
        $0.method = method
        $0.origin = rules.origin
        $0.fetchSite = site
      }
      #expect(answer == (site == nil || site == "same-origin" ? nil : .foreign))
    }
  }

  @Test func aCodeComesFromAFileOrFromThePage() {
    for (origin, isTaken) in [
      (nil, true), ("null", true), (rules.origin, true), ("http://evil.example", false),
    ] {
      let answer = refusal {
        $0.method = "POST"
        $0.path = DoorRules.entrance
        $0.origin = origin
        $0.fetchSite = "cross-site"
      }
      #expect(answer == (isTaken ? nil : .foreign))
    }
  }

  @Test(arguments: ["DELETE", "OPTIONS", "HEAD", "TRACE", "get", "PATCH", "CONNECT"])
  func otherMethodsAreNone(method: String) {
    #expect(refusal { $0.method = method } == .method)
  }

  // MARK: Codes

  @Test func aCodeIsGoodOnceAndForAShortTime() {
    let now = ContinuousClock.now
    var codes = EntryCodes()
    func redeem(_ text: String, _ time: ContinuousClock.Instant) -> Bool {
      codes.redeem(text, at: time)
    }
    let (launch, typed, late) = (codes.launch(at: now), codes.typed(at: now), codes.launch(at: now))
    #expect(redeem(launch, now + .seconds(29)))
    #expect(!redeem(launch, now + .seconds(29)))
    #expect(!redeem(late, now + .seconds(30)))
    // However it is typed.
    #expect(redeem(" " + typed.lowercased() + "\n", now + .seconds(299)))
    #expect(!redeem(typed, now + .seconds(299)))
    let again = codes.typed(at: now)
    #expect(!redeem(again, now + .seconds(300)))
    #expect(!redeem("", now))
  }

  @Test func whoGuessesEndsTheTypedCode() {
    let now = ContinuousClock.now
    var codes = EntryCodes()
    func redeem(_ text: String, _ time: ContinuousClock.Instant) -> Bool {
      codes.redeem(text, at: time)
    }
    let (launch, typed) = (codes.launch(at: now), codes.typed(at: now))
    for _ in 0..<EntryCodes.mistakeLimit { #expect(!redeem("AAAAA-AAAAA", now)) }
    #expect(!redeem(typed, now))
    // Nobody guesses 256 bits: the browser that was opened gets in.
    #expect(redeem(launch, now))
  }

  @Test func aVisitorIsKnownByTheCookieAlone() throws {
    let door = Door()
    let visitor = try #require(door.enter(with: door.launchCode()))
    let other = try #require(door.enter(with: door.typedCode()))
    #expect(visitor.cookie != other.cookie && visitor.form != other.form)
    let cookie = "\(Door.cookieName)=\(visitor.cookie.text)"
    #expect(door.visitor(cookies: ["a=b; \(cookie)"]) == visitor)
    #expect(door.visitor(cookies: ["\(Door.cookieName)=x", cookie]) == visitor)
    for wrong in [
      "", "\(Door.cookieName)=", "x\(cookie)", String(cookie.dropLast()), "\(cookie)0",
      "\(Door.cookieName)=\(visitor.form.text)",
    ] { #expect(door.visitor(cookies: [wrong]) == nil) }
    let code = door.launchCode()
    door.close()
    #expect(door.visitor(cookies: [cookie]) == nil)
    #expect(door.enter(with: code) == nil)
    #expect(door.enter(with: door.launchCode()) == nil)
  }

  /// Both loopback addresses are one port's, or there is only one of them.
  @Test func aPortIsFreeOnBothAddresses() throws {
    let sockets = try LoopbackSockets.find()
    #expect(sockets.port > 0 && sockets.addresses.first == "127.0.0.1")
  }
}
