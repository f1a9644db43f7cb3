import Testing
import VaultModel

@testable import VaultCrypto

@Suite struct RecoveryWordsTests {
  /// The 24-word English vectors that BIP 39 refers to (trezor/python-mnemonic, `vectors.json`).
  static let vectors: [(entropy: String, words: String)] = [
    (
      "0000000000000000000000000000000000000000000000000000000000000000",
      """
      abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon
      abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon
      abandon art
      """
    ),
    (
      "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f",
      """
      legal winner thank year wave sausage worth useful legal winner thank year wave sausage
      worth useful legal winner thank year wave sausage worth title
      """
    ),
    (
      "8080808080808080808080808080808080808080808080808080808080808080",
      """
      letter advice cage absurd amount doctor acoustic avoid letter advice cage absurd amount
      doctor acoustic avoid letter advice cage absurd amount doctor acoustic bless
      """
    ),
    (
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      """
      zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo
      zoo vote
      """
    ),
    (
      "68a79eaca2324873eacc50cb9c6eca8cc68ea5d936f98787c60c7ebc74e6ce7c",
      """
      hamster diagram private dutch cause delay private meat slide toddler razor book happy
      fancy gospel tennis maple dilemma loan word shrug inflict delay length
      """
    ),
    (
      "9f6a2878b2520799a44ef18bc7df394e7061a224d2c33cd015b157d746869863",
      """
      panda eyebrow bullet gorilla call smoke muffin taste mesh discover soft ostrich alcohol
      speed nation flash devote level hobby quick inner drive ghost inside
      """
    ),
    (
      "066dca1a2bb7e8a1db2832148ce9933eea0f3ac9548d793112d9a95c9407efad",
      """
      all hour make first leader extend hole alien behind guard gospel lava path output census
      museum junior mass reopen famous sing advance salt reform
      """
    ),
    (
      "f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f",
      """
      void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing
      screen patrol group space point ten exist slush involve unfold
      """
    ),
  ]

  @Test(arguments: vectors) func agreesWithThePublishedVectors(entropy: String, words: String)
    throws
  {
    #expect(RecoveryWords(entropy: SecretBytes(copying: hex(entropy))).words == split(words))
    let parsed = try RecoveryWords(parsing: words)
    #expect(parsed.isSame(as: RecoveryWords(entropy: SecretBytes(copying: hex(entropy)))) == true)
  }

  @Test func theListIsTheStandardOne() {
    // SHA-256 of BIP 39's english.txt.
    let text = Wordlist.english.map { $0 + "\n" }.joined()
    #expect(
      Digest.sha256(Array(text.utf8)).hex
        == "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda")
    #expect(Wordlist.english == Wordlist.english.sorted())
    #expect(Set(Wordlist.english.map { $0.prefix(4) }).count == 2_048)
  }

  @Test func everyWordIsFoundInFullInCapitalsAndByItsFirstFourLetters() {
    for (index, word) in Wordlist.english.enumerated() {
      #expect(Wordlist.index(of: word) == index)
      #expect(Wordlist.index(of: word.uppercased()) == index)
      #expect(Wordlist.index(of: String(word.prefix(4))) == index)
    }
    for word in ["", "a", "aba", "zzzz", "abandonn", "zoos", "ä", "\u{0}"] {
      #expect(Wordlist.index(of: word) == nil, "\(word)")
    }
  }

  @Test func wordsAreReadAsPeopleTypeThem() throws {
    let words = RecoveryWords.random()
    let list = words.words
    for text in [
      list.joined(separator: " "), "  " + list.joined(separator: "\t \n") + "\r\n",
      list.map { $0.uppercased() }.joined(separator: "\n"),
      list.map { String($0.prefix(4)) }.joined(separator: " "),
      list.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined(separator: "  "),
    ] {
      #expect(try RecoveryWords(parsing: text).isSame(as: words) == true)
      let secret = SecretBytes(copying: Array(text.utf8))
      #expect(try RecoveryWords(parsing: secret).isSame(as: words) == true)
    }
  }

  @Test func numbersBeforeTheWordsAreNone() throws {
    let words = RecoveryWords.random()
    let list = words.words
    let numbered = list.enumerated().map { ($0 + 1, $1) }
    let columns = (0..<6).flatMap { row in stride(from: row, to: 24, by: 6).map { numbered[$0] } }
    // Where not all have one, what stands in the text is their order.
    let some = list.enumerated().map { $0 == 8 ? "9 \($1)" : $1 }.joined(separator: " ")
    let texts: [String] = [
      numbered.map { "\($0) \($1)" }.joined(separator: "\n"),
      numbered.map { "\($0). \($1)" }.joined(separator: " "),
      numbered.map { "\($0).\($1)" }.joined(separator: "\n"),
      numbered.map { "\($0))\t\($1)" }.joined(separator: "\n"),
      columns.map { "\($0) \($1)" }.joined(separator: "   "),
      some,
    ]
    for text in texts {
      let isSame = try RecoveryWords(parsing: text).isSame(as: words)
      #expect(isSame, "\(text.count) characters")
    }
    // With a number twice, the order of the text is theirs.
    #expect(Wordlist.words(in: "1 zoo 1 art", count: 2) == ["zoo", "art"])
    #expect(Wordlist.words(in: "2 zoo 1 art 3", count: 2) == ["art", "zoo"])
    #expect(Wordlist.words(in: "2 zoo 1 art art", count: 2) == ["zoo", "art", "art"])
    #expect(Wordlist.words(in: "1 2 99999999999999999999", count: 2).isEmpty)
    let wrong = numbered.map { "\($0) \($0 == 5 ? "wvae" : $1)" }.reversed()
    #expect(throws: WordsError.unknownWord(position: 5, nearest: "wave")) {
      _ = try RecoveryWords(parsing: wrong.joined(separator: "\n"))
    }
  }

  @Test func errorsNameThePositionAndTheNearestWord() {
    var list = split(Self.vectors[1].words)
    list[4] = "wvae"
    #expect(throws: WordsError.unknownWord(position: 5, nearest: "wave")) {
      _ = try RecoveryWords(parsing: list.joined(separator: " "))
    }
    list[0] = "legall"
    #expect(throws: WordsError.unknownWord(position: 1, nearest: "legal")) {
      _ = try RecoveryWords(parsing: list.joined(separator: " "))
    }
    #expect(Wordlist.nearest(to: "abandno") == "abandon")
    #expect(Wordlist.nearest(to: "ZOOO") == "zoo")
    #expect(!Wordlist.nearest(to: String(repeating: "x", count: 100_000)).isEmpty)
  }

  @Test func otherNumbersOfWordsAreRefused() {
    let list = split(Self.vectors[0].words)
    for count in [0, 1, 12, 23] {
      #expect(throws: WordsError.wrongCount(found: count, expected: 24)) {
        _ = try RecoveryWords(parsing: list[..<count].joined(separator: " "))
      }
    }
    #expect(throws: WordsError.wrongCount(found: 25, expected: 24)) {
      _ = try RecoveryWords(parsing: (list + ["art"]).joined(separator: " "))
    }
  }

  @Test func exchangedWordsAreNoticed() {
    var list = split(Self.vectors[4].words)
    list.swapAt(0, 1)
    #expect(throws: WordsError.badChecksum) {
      _ = try RecoveryWords(parsing: list.joined(separator: " "))
    }
    let zoo = [String](repeating: "zoo", count: 24).joined(separator: " ")
    #expect(throws: WordsError.badChecksum) { _ = try RecoveryWords(parsing: zoo) }
  }

  @Test func theWordsOpenTheRecoverySlotAndOthersDoNot() throws {
    let words = RecoveryWords.random()
    let salt = randomBytes(16)
    let master = MasterKey.random()
    let wrapped = master.wrap(
      for: try words.seed(salt: salt, cost: .floor), binding: Sample.binding)
    let again = try RecoveryWords(parsing: words.words.joined(separator: " "))
    let seed = try again.seed(salt: salt, cost: .floor)
    #expect(
      try MasterKey.unwrap(wrapped, seed: seed, binding: Sample.binding).isSame(as: master) == true)
    #expect(throws: CryptoError.unwrapFailed) {
      let other = try RecoveryWords.random().seed(salt: salt, cost: .floor)
      _ = try MasterKey.unwrap(wrapped, seed: other, binding: Sample.binding)
    }
    #expect(
      words.rootSigningKey(binding: Sample.binding).publicKey
        == again.rootSigningKey(binding: Sample.binding).publicKey)
    #expect(
      words.rootSigningKey(binding: Sample.binding).publicKey
        != words.rootSigningKey(binding: Sample.otherBinding).publicKey)
  }

  private func split(_ words: String) -> [String] {
    words.split(whereSeparator: \.isWhitespace).map(String.init)
  }
}
