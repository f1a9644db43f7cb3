import TestSupport
import Testing
import VaultModel

@testable import VaultFiles

/// Two mounts that write, link, rename and remove files and their names, apart from each other and together. At the end
/// all mounts and an export agree, and no text is lost that nobody replaced knowingly.
@Suite struct RandomLinksTests {
  private static let folders = ["Emma/a", "Emma/b", "Emma/c"]

  @Test(arguments: Seeds.first(40))
  func namesAgreeAndNothingIsLost(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let devices = try ApartDevices { tree in
      try tree.mkdir("Emma")
      for folder in Self.folders { try tree.mkdir(folder) }
      try tree.write("Emma/a/f", "first")
      try tree.link("Emma/a/f", "Emma/b/f")
      try tree.write("Emma/c/g", "second")
    }
    var wanted: Set<String> = []
    var log: [String] = []
    for step in 0..<(8 + Int(seed % 8)) {
      let number = random.below(2)
      let tree = number == 0 ? devices.here.tree : devices.there
      let what = try change(tree, "text \(step)", &wanted, &random)
      log.append("\(number): \(what)")
      if random.below(3) == 0 { try tree.commitNow() }
      if random.below(4) == 0 {
        log.append("meet")
        try devices.meet()
      }
    }
    try devices.meet()
    let shown = try devices.files(after: "\(log)")
    let lost = wanted.subtracting(shown.values)
    #expect(lost.isEmpty, "seed \(seed): \(log)")
  }

  /// One thing that a person does with a file; a text that they saw and replaced or removed is not wanted any more.
  private func change(
    _ tree: FileTree, _ text: String, _ wanted: inout Set<String>, _ random: inout SplitMix64
  ) throws -> String {
    var paths: [String] = []
    for folder in Self.folders { paths += try tree.list(folder).map { "\(folder)/\($0)" } }
    let new = "\(Self.folders[random.below(3)])/\(["f", "g", "h"][random.below(3)])"
    guard let path = paths.isEmpty ? nil : paths.sorted()[random.below(paths.count)] else {
      try tree.write(new, text)
      wanted.insert(text)
      return "writes \(new): \(text)"
    }
    let old = try tree.text(path)
    switch random.below(8) {
    case 0...2:
      try tree.write(path, text)
      wanted.remove(old)
      wanted.insert(text)
      return "writes \(path): \(text) for \(old)"
    case 3...4:
      guard !paths.contains(new) else { return "-" }
      try tree.link(path, new)
      return "links \(path) as \(new)"
    case 5...6:
      guard !paths.contains(new) else { return "-" }
      try tree.rename(path, new)
      return "renames \(path) to \(new)"
    default:
      try tree.unlink(path)
      wanted.remove(old)
      return "removes \(path): \(old)"
    }
  }
}

extension SplitMix64 {
  fileprivate mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
