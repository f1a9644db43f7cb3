import Testing
import VaultModel

@Suite struct VaultDescriptionTests {
  private let hex = "000102030405060708090a0b0c0d0e0f"
  private let suite = VaultDescription.suite

  private func decode(_ text: String) throws -> VaultDescription {
    try VaultDescription(decoding: Array(text.utf8))
  }

  private func text(version: String = "2", suite: String? = nil, more: String = "") -> String {
    """
    {"format": "kinvault", "version": \(version), "suite": "\(suite ?? self.suite)", \
    "vault": "\(hex)"\(more)}
    """
  }

  @Test func decodesWhatItEncodes() throws {
    let description = VaultDescription(vault: try #require(VaultID(hex: hex)))
    #expect(try VaultDescription(decoding: description.encoded()) == description)
    #expect(String(decoding: description.encoded(), as: UTF8.self) == text() + "\n")
    #expect(try decode(" \n" + text().replacing(" ", with: "\t\r\n") + " ") == description)
  }

  @Test func namesTheVersionAndTheSuiteThatItDoesNotKnow() {
    let version = ModelError.unsupported(
      what: "a vault of format version", found: "3", supported: "2")
    #expect(throws: version) { try decode(text(version: "3", more: ", \"new\": 1")) }
    let cipher = ModelError.unsupported(
      what: "a vault of cipher suite", found: "ROT13", supported: suite)
    #expect(throws: cipher) { try decode(text(suite: "ROT13")) }
  }

  @Test func refusesTheVersionThatWasNeverReleased() {
    let error = ModelError.unsupported(
      what: "a vault of format version", found: "1", supported: "2")
    #expect(throws: error) { try decode(text(version: "1")) }
    #expect("\(error)" == "this is a vault of format version 1, and this program knows 2")
  }

  @Test func refusesEverythingElse() {
    let texts = [
      "", "{", "{}", "[]", "null", text() + "x", text(more: ", \"new\": 1"), text(version: "02"),
      text(version: "-2"), text(version: "2.0"), text(version: "\"2\""), text(version: "[2]"),
      text(version: "99999999999999999999"), text(more: ","), text(more: ", \"version\": 2"),
      text().replacing("kinvault", with: "other"), text().replacing("0f\"", with: "0F\""),
      text().replacing("0f\"", with: "\""), text().replacing("kinvault", with: "kin\\u0076ault"),
    ]
    for text in texts {
      #expect(throws: ModelError.self, "\(text)") { try decode(text) }
    }
    #expect(throws: ModelError.self) {
      try VaultDescription(decoding: [UInt8](repeating: 0x20, count: 5_000))
    }
  }
}
