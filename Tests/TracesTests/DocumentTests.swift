import BlobStore
import SystemPackage
import TestSupport
import Testing

@testable import Traces

/// What LibreOffice, Okular and nano note of documents.
@Suite struct DocumentTests {
  private static let settings = ".config/libreoffice/4/user/registrymodifications.xcu"
  private static let backup = ".config/libreoffice/4/user/backup"
  private static let pickList =
    "/org.openoffice.Office.Histories/Histories"
    + "/org.openoffice.Office.Histories:HistoryInfo['PickList']"

  private static func xcu(_ items: [String]) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <oor:items xmlns:oor="http://openoffice.org/2001/registry">
    <item oor:path="/org.openoffice.Office.Common/Misc"><prop oor:name="FirstRun" oor:op="fuse"><value>false</value></prop></item>

    """ + items.map { $0 + "\n" }.joined() + "</oor:items>"
  }

  private static func item(_ uri: String) -> String {
    """
    <item oor:path="\(pickList)/ItemList"><node oor:name="\(uri)" oor:op="replace"><prop \
    oor:name="Title" oor:op="fuse"><value>a &amp; b</value></prop><prop oor:name="Thumbnail" \
    oor:op="fuse"><value>iVBORw0KGgo=</value></prop></node></item>
    """
  }

  private static func order(_ number: Int, _ uri: String, of list: String = pickList) -> String {
    """
    <item oor:path="\(list)/OrderList"><node oor:name="\(number)" oor:op="replace"><prop \
    oor:name="HistoryItemRef" oor:op="fuse"><value>\(uri)</value></prop></node></item>
    """
  }

  private static func recovery(_ number: Int, _ uri: String, copy: String) -> String {
    """
    <item oor:path="/org.openoffice.Office.Recovery/RecoveryList"><node \
    oor:name="recovery_item_\(number)" oor:op="replace"><prop oor:name="TempURL" \
    oor:op="fuse"><value>\(copy)</value></prop><prop oor:name="OriginalURL" \
    oor:op="fuse"><value>\(uri)</value></prop></node></item>
    """
  }

  /// LibreOffice adds nothing to a list in which a number is missing.
  @Test func libreOfficesListHasNoGapAfterwards() throws {
    let home = try TraceFolder()
    let mine = "file:///mnt/Family/a%20&amp;%20b.odt"
    let others = ["file:///home/anna/a.odt", "file:///home/anna/b.odt"]
    let bookmarks = "/org.openoffice.Office.Histories/Histories/x"
    let kept = [
      Self.item(others[0]), Self.item(others[1]), Self.order(5, others[0], of: bookmarks),
    ]
    try home.write(
      Self.xcu(
        [Self.item(mine)] + kept + [
          Self.order(0, others[1]), Self.order(1, mine), Self.order(2, others[0]),
        ]), at: Self.settings)
    let found = home.search.find()
    #expect(found.failures.isEmpty)
    #expect(found.traces.map(\.kind) == [.libreOfficeHistory, .libreOfficeHistory])
    #expect(found.traces.allSatisfy { $0.path == Array("/mnt/Family/a & b.odt".utf8) })
    #expect(home.search.remove(sparesUnsavedWork: false) == found)
    let expected = Self.xcu(kept + [Self.order(0, others[1]), Self.order(1, others[0])])
    #expect(try home.text(Self.settings) == expected)
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
  }

  @Test func copiesForACrashGoWithTheirItem() throws {
    let home = try TraceFolder()
    let folder = "file:///somewhere/backup"
    let other = Self.recovery(2, "file:///home/anna/a.odt", copy: "\(folder)/a.odt_1.odt")
    try home.write(
      Self.xcu([
        Self.recovery(1, "file:///mnt/Family/a.odt", copy: "\(folder)/a.odt_0.odt"), other,
        Self.recovery(3, "file:///mnt/Family/b.odt", copy: "\(folder)/gone.odt"),
        Self.recovery(4, "file:///mnt/Family/c.odt", copy: "file:///"),
      ]), at: Self.settings)
    for name in ["a.odt_0.odt", "a.odt_1.odt", "b.odt_0.odt"] {
      try home.write("text", at: "\(Self.backup)/\(name)")
    }
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.failures.isEmpty)
    #expect(report.traces.count { $0.kind == .libreOfficeCopy } == 1)
    #expect(report.traces.count { $0.kind == .libreOfficeHistory } == 3)
    #expect(try home.text(Self.settings) == Self.xcu([other]))
    let left = try home.store.list(.init(Self.backup)).map(\.name)
    #expect(left == ["a.odt_1.odt", "b.odt_0.odt"])
  }

  /// What nobody has asked to remove may be all that is left of their work.
  @Test func workThatWasNeverSavedIsSparedWithWhatIsSaidOfIt() throws {
    let home = try TraceFolder()
    let mine = "file:///mnt/Family/a.odt"
    let kept = Self.recovery(1, mine, copy: "file:///somewhere/backup/a.odt_0.odt")
    let gone = Self.recovery(
      2, "file:///mnt/Family/b.odt", copy: "file:///somewhere/backup/b.odt_0.odt")
    try home.write(Self.xcu([kept, Self.item(mine), gone, Self.order(0, mine)]), at: Self.settings)
    try home.write("text", at: "\(Self.backup)/a.odt_0.odt")
    let report = home.search.remove(sparesUnsavedWork: true)
    #expect(report.failures.isEmpty)
    #expect(report.unsavedWork.map(\.kind) == [.libreOfficeCopy])
    #expect(report.unsavedWork.allSatisfy { $0.path == Array("/mnt/Family/a.odt".utf8) })
    #expect(
      report.traces.map(\.kind) == [.libreOfficeHistory, .libreOfficeHistory, .libreOfficeHistory])
    #expect(try home.text(Self.settings) == Self.xcu([kept]))
    #expect(try home.text("\(Self.backup)/a.odt_0.odt") == "text")
    #expect(home.search.find().traces.map(\.kind) == [.libreOfficeCopy, .libreOfficeHistory])
    #expect(home.search.remove(sparesUnsavedWork: false).traces.count == 2)
    #expect(try home.text(Self.settings) == Self.xcu([]))
    #expect(try !home.has("\(Self.backup)/a.odt_0.odt"))
  }

  @Test func otherSettingsThatNameTheMountStay() throws {
    let home = try TraceFolder()
    let text = Self.xcu([
      """
      <item oor:path="/org.openoffice.Office.Paths/Paths"><node oor:name="x"><prop \
      oor:name="OriginalURL"><value>file:///mnt/Family/a</value></prop></node></item>
      """, Self.item("private:factory/swriter"), Self.order(1, "file:///mnt/Family2/a"),
    ])
    try home.write(text, at: Self.settings)
    #expect(home.search.remove(sparesUnsavedWork: false) == TraceReport())
    #expect(try home.text(Self.settings) == text)
  }

  @Test(arguments: [
    "<oor:items><item oor:path='x'>", "<oor:items><item><item></item></item></oor:items>",
    "<oor:items><item oor:path=x></item>", "<oor:items><item oor:path='&f;'></item>",
  ])
  func settingsThatAreNoneAreLeftAlone(text: String) throws {
    try TraceFolder().expectLeftAlone(text, at: Self.settings)
  }

  @Test(arguments: [".local/share/nano/filepos_history", ".nano/filepos_history"])
  func nanosPositionsOfTheMountGo(list: String) throws {
    let home = try TraceFolder()
    let kept = "/home/anna/a 1 2\n\n/mnt/Family2/a 1 2\n/mnt/Family 1\n"
    try home.write(
      "/mnt/Family/a b 1 22\n" + kept + "/mnt/Family/c\0d 3 4\n/mnt/Family/e 5 6", at: list)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.map(\.kind) == [.nanoHistory, .nanoHistory, .nanoHistory])
    let names = report.traces.map { String(decoding: $0.path, as: UTF8.self) }
    #expect(names == ["/mnt/Family/a b", "/mnt/Family/c\nd", "/mnt/Family/e"])
    #expect(try home.text(list) == kept)
  }

  @Test func whatOkularKeepsOfADocumentGoes() throws {
    let home = try TraceFolder()
    let folder = ".local/share/okular/docdata"
    func write(_ url: String, at name: String) throws {
      let head = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE documentInfo>\n"
      try home.write("\(head)<documentInfo url=\"\(url)\">\n</documentInfo>\n", at: name)
    }
    try write("/mnt/Family/a &amp; b.pdf", at: "\(folder)/1.a.pdf.xml")
    try write("file:///mnt/Family/c%20d.pdf", at: "\(folder)/2.c.pdf.xml")
    try write("/mnt/Family2/a.pdf", at: "\(folder)/3.a.pdf.xml")
    try home.write("<other url='/mnt/Family/a'/>", at: "\(folder)/4.xml")
    try home.write("<documentInfo url=/mnt/Family/a>", at: "\(folder)/5.xml")
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.map(\.kind) == [.okularView, .okularView])
    #expect(report.failures.map(\.place) == [home.folder.appending("\(folder)/5.xml").string])
    let left = try home.store.list(.init(folder)).map(\.name)
    #expect(left == ["3.a.pdf.xml", "4.xml", "5.xml"])
  }

  @Test func okularsListOfTheMountGoes() throws {
    let home = try TraceFolder()
    let list = ".config/okularrc"
    let before = "[Desktop Entry]\nFile1=/mnt/Family/x\n\n[Recent Files]\n"
    let kept = "File2[$e]=$HOME/a.pdf\n"
    let after = "Name2[$e]=a.pdf\n\n[Other]\nName1=a\n"
    try home.write(
      before + "File1[$e]=/mnt/Family/a.pdf\n" + kept + "File3=/mnt/Family/$$1\\\\2\\s.pdf\n"
        + "Name1[$e]=a.pdf\n" + after, at: list)
    let report = home.search.remove(sparesUnsavedWork: false)
    #expect(report.traces.map(\.kind) == [.okularHistory, .okularHistory, .okularHistory])
    #expect(report.traces.contains { $0.path == Array("/mnt/Family/$1\\2 .pdf".utf8) })
    #expect(try home.text(list) == before + kept + after)
    let inHome = home.search(below: home.folder.path.string)
    #expect(
      inHome.remove(sparesUnsavedWork: false).traces.map(\.kind) == [
        .okularHistory, .okularHistory,
      ])
  }
}
