import Testing

/// What is wrong with a scenario is said with its line, and a wrong expectation fails.
struct LanguageTests {
  private func run(_ text: String) throws {
    for scenario in try ScenarioParser.parse(text, file: "x.scenario") {
      try ScenarioRunner(scenario).run()
    }
  }

  private func expectFailure(
    _ text: String, at line: Int, saying part: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do {
      try run(text)
      Issue.record("nothing is wrong with it", sourceLocation: sourceLocation)
    } catch let error as ScenarioError {
      #expect(error.line == line, "\(error)", sourceLocation: sourceLocation)
      #expect(error.text.contains(part), "\(error)", sourceLocation: sourceLocation)
    } catch {
      Issue.record("\(error)", sourceLocation: sourceLocation)
    }
  }

  @Test func understandsPeopleDevicesAndBlocks() throws {
    let scenarios = try ScenarioParser.parse(
      """
      # A comment.
      scenario One
      Anna uses desk, laptop and phone
      Ben uses tablet
      members Emma, Liam
      remotes cloud, stick
      desk and phone write
        one
        two

      or
        three
      scenario Two
      desk writes "a b" to "c d"
      """, file: "x.scenario")
    #expect(scenarios.map(\.name) == ["One", "Two"])
    #expect(scenarios[0].people.map(\.devices) == [["desk", "laptop", "phone"], ["tablet"]])
    #expect(scenarios[0].members == ["Emma", "Liam"])
    #expect(scenarios[0].remotes == ["cloud", "stick"])
    let step = try #require(scenarios[0].steps.first)
    #expect(step.subjects == ["desk", "phone"])
    #expect(step.block.map(\.text) == ["one", "two"])
    #expect(step.alternatives.map { $0.map(\.text) } == [["three"]])
    #expect(scenarios[1].steps[0].words.map(\.text) == ["writes", "a b", "to", "c d"])
  }

  @Test func saysWhereItCannotBeUnderstood() {
    expectFailure("desk syncs", at: 1, saying: "begins with “scenario”")
    expectFailure("scenario A\ndesk wriets \"x\" to y", at: 2, saying: "writes TEXT to PATH")
    expectFailure("scenario A\nclock syncs", at: 2, saying: "is none of desk, laptop, cloud")
    expectFailure("scenario A\ndesk writes \"x to y", at: 2, saying: "not closed")
    expectFailure("scenario A\n  indented", at: 2, saying: "below a step")
    expectFailure("scenario A\ndesk", at: 2, saying: "does not say what happens")
    expectFailure("scenario A\nor", at: 2, saying: "between two blocks")
    expectFailure("scenario A\n", at: 2, saying: "has no steps")
  }

  @Test func saysWhatWasExpectedAndWhatWasSeen() {
    let start = "scenario A\ndesk writes \"one\" to Emma/Visit/record.md\n"
    expectFailure(
      start + "desk sees\n  Emma/Visit/record.md = two", at: 3,
      saying: "expected: Emma/Visit/record.md = two\n  seen:     Emma/Visit/record.md = one")
    expectFailure(
      start + "laptop sees\n  Emma/Visit/record.md = one", at: 3, saying: "seen:     Emma/")
    expectFailure(start + "desk sees 2 records", at: 3, saying: "desk sees 1")
    expectFailure(start + "desk lists conflicts\n  x", at: 3, saying: "expected: x")
    expectFailure(start + "desk is told\n  x", at: 3, saying: "not told “x”")
    expectFailure(
      start + "cloud fails\ndesk syncs\ndesk goes offline", at: 5,
      saying: "what the scenario does not expect: The remote failed")
    expectFailure(start + "cloud fails\ndesk syncs", at: 4, saying: "does not expect")
  }

  @Test func timesAndIdsFitTheirPatternsOnly() {
    #expect(Pattern.fits("a 2026-03-01 081500/x = y", "a <time>/x = y"))
    #expect(!Pattern.fits("a 2026-03-01 08150/x = y", "a <time>/x = y"))
    #expect(Pattern.fits("a (1a2b3c4d)/x = y", "a (<id>)/x = y"))
    #expect(!Pattern.fits("a (1a2b3c4g)/x = y", "a (<id>)/x = y"))
    #expect(Pattern.fits("a = one two", "a ~ two"))
    #expect(Pattern.fits("a = <scan>", "a = <scan>"))
    #expect(!Pattern.fits("a = <scan>", "a = <scam>"))
    #expect(!Pattern.fits("ab = one", "a"))
    #expect(!Pattern.match(["a = 1", "a = 1"], ["a = 1"]))
  }
}
