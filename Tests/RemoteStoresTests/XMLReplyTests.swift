import BlobStore
import Testing

@testable import RemoteStores

/// What is read of a server's XML, and what is refused.
@Suite struct XMLReplyTests {
  private func read(_ text: String) throws(BlobStoreError) -> XMLElement {
    try XMLReply.read("r", from: Array(text.utf8), path: "p")
  }

  private func isRefused(_ bytes: [UInt8]) -> Bool {
    do throws(BlobStoreError) {
      _ = try XMLReply.read("r", from: bytes, path: "p")
      return false
    } catch {
      if case .unexpectedReply = error { return true }
      return false
    }
  }

  @Test func whatAServerSaysEndsASentenceThatHasOneEnd() {
    #expect(ReplyText.oneLine("AccessDenied: Access\nDenied.\n") == "AccessDenied: Access Denied")
  }

  @Test func namesStandWithoutTheirNamespace() throws {
    let text = "<D:r xmlns:D='DAV:' xmlns='other'><D:a>1</D:a><a>2</a><b/></D:r>"
    let root = try read(text)
    #expect(root.all("a").map(\.text) == ["1", "2"])
    #expect(root.text(of: "b") == "" && root.text(of: "c") == nil)
  }

  @Test func textIsWholeAndKeepsItsBlanks() throws {
    let root = try read(
      "\u{FEFF}<?xml version='1.0' encoding='utf-8'?>\n<r><a> x&amp;<![CDATA[<y>]]>&#252;\u{1F600} </a></r>\n"
    )
    #expect(root.text(of: "a") == " x&<y>ü\u{1F600} ")
    // Text that comes in several pieces, since it is longer than one.
    let long = String(repeating: "é&lt;", count: 100_000)
    #expect(try read("<r><a>\(long)</a></r>").text(of: "a")?.utf8.count == 300_000)
  }

  @Test(arguments: [
    "<!DOCTYPE r [<!ENTITY a \"aaaa\">]><r>&a;</r>",
    "<!DOCTYPE r SYSTEM \"file:///etc/hostname\"><r/>",
    "<!DOCTYPE r [<!ENTITY a SYSTEM \"file:///etc/hostname\">]><r>&a;</r>",
    "<!DOCTYPE r [<!ENTITY % p SYSTEM \"http://127.0.0.1:1/x\"> %p;]><r/>", "<!DOCTYPE r><r/>",
  ])
  func refusesEveryDocumentType(_ text: String) {
    #expect(
      throws: BlobStoreError.unexpectedReply(
        path: "p", status: 0, text: "XML with a document type in it")
    ) { try read(text) }
  }

  @Test(arguments: [
    "", "<r>", "<r></r><r/>", "<r>&a;</r>", "<r a='1' a='2'/>", "<q/>", "<x:r/>", "r", "<r>\0</r>",
  ])
  func refusesWhatIsNoSuchDocument(_ text: String) {
    #expect(isRefused(Array(text.utf8)))
  }

  @Test func refusesOtherEncodings() {
    let latin = Array("<?xml version='1.0' encoding='iso-8859-1'?><r>".utf8) + [0xE9]
    #expect(isRefused(latin + Array("</r>".utf8)))
    let wide = Array("\u{FEFF}<r/>".utf16).flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(isRefused(wide))
  }

  @Test func refusesDepthBeyondTheLimit() {
    func nested(_ depth: Int) -> [UInt8] {
      let inner = depth - 1
      return Array(
        "<r>\(String(repeating: "<a>", count: inner))\(String(repeating: "</a>", count: inner))</r>"
          .utf8)
    }
    #expect(!isRefused(nested(XMLReply.depthLimit)))
    #expect(isRefused(nested(XMLReply.depthLimit + 1)))
    #expect(isRefused(nested(1_000_000)))
  }

  @Test func refusesMoreElementsThanAnAnswerOfThatSizeHas() {
    func many(_ element: String) -> [UInt8] {
      Array("<r>\(String(repeating: element, count: 100_000))</r>".utf8)
    }
    #expect(isRefused(many("<a/>")))
    #expect(!isRefused(many("<a>12345678901</a>")))
  }
}
