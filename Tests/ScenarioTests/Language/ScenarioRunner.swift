/// Carries out a scenario on vaults of its own, and compares what is seen.
struct ScenarioRunner {
  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// - Throws: `ScenarioError` at the first sentence that makes no sense, or that is not what happens.
  func run() throws {
    let world = try World(scenario)
    for step in scenario.steps { try run(step, in: world) }
    let end = scenario.steps.last?.line ?? 0
    for device in world.devices { try requireNothingUntold(device, line: end) }
  }

  private func run(_ step: Scenario.Step, in world: World) throws {
    let said = ([step.subjects.joined(separator: ", ")] + step.words.map(\.text)).joined(
      separator: " ")
    for verb in Verb.all {
      guard let values = verb.values(in: step.words) else { continue }
      let sentence = Sentence(scenario: scenario.file, step: step, values: values)
      guard let act = try act(verb, step, in: world, sentence) else { continue }
      do {
        try act()
      } catch let error as ScenarioError {
        throw ScenarioError(file: error.file, line: error.line, text: "\(said): \(error.text)")
      } catch {
        throw sentence.wrong("\(said): \(error)")
      }
      return
    }
    let forms = Verb.all.map(\.form).sorted().joined(separator: "\n  ")
    throw ScenarioError(
      file: scenario.file, line: step.line,
      text: "nobody knows what “\(said)” means. One may say\n  \(forms)")
  }

  /// What the sentence does; nil when the verb is for another kind of subject.
  private func act(
    _ verb: Verb, _ step: Scenario.Step, in world: World, _ sentence: Sentence
  ) throws(ScenarioError) -> (() throws -> Void)? {
    switch verb.subject {
    case .world(let word, let body):
      guard step.subjects == [word] else { return nil }
      return { try body(world, sentence) }
    case .remote(let body):
      guard step.subjects.count == 1, let remote = world.remotes[step.subjects[0]] else {
        return nil
      }
      return { try body(world, remote, sentence) }
    case .devices(let body):
      let devices = try world.devices(step.subjects, sentence)
      if !verb.isLook {
        for device in devices { try requireNothingUntold(device, line: step.line) }
      }
      return { try body(world, devices, sentence) }
    case .eachDevice(let body):
      let devices = try world.devices(step.subjects, sentence)
      return {
        for device in devices {
          if !verb.isLook { try requireNothingUntold(device, line: step.line) }
          try body(world, device, sentence)
          if !verb.isLook { world.tick() }
        }
      }
    }
  }

  /// A message that the scenario does not expect is a failure.
  private func requireNothingUntold(_ device: Device, line: Int) throws(ScenarioError) {
    guard let message = device.messages.first(where: \.needsExpecting) else { return }
    throw ScenarioError(
      file: scenario.file, line: line,
      text:
        "before this, \(device.name) was told what the scenario does not expect: \(message.text)")
  }
}
