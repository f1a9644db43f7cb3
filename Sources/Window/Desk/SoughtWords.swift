/// What was looked for, under random names. Addresses have these names and never the words, since browsers keep addresses.
struct SoughtWords {
  /// So many are kept; the oldest go first.
  static let limit = 1000
  /// Longer texts are cut to so many characters.
  static let characterLimit = 1000

  private var wordsByName: [String: String] = [:]
  private var namesByWords: [String: String] = [:]
  /// Oldest first.
  private var names: [String] = []

  /// The name of these words, which is the same each time they are looked for.
  mutating func name(of text: String) -> String {
    let words = String(text.prefix(Self.characterLimit))
    if let known = namesByWords[words] { return known }
    if names.count == Self.limit {
      let oldest = names.removeFirst()
      if let words = wordsByName.removeValue(forKey: oldest) { namesByWords[words] = nil }
    }
    let name = String(Secret.random().text.prefix(32))
    names.append(name)
    wordsByName[name] = words
    namesByWords[words] = name
    return name
  }

  /// Nil for a name that was never given, or whose words are gone.
  func words(named name: String) -> String? { wordsByName[name] }
}
