import Glibc
import Notes
import Testing
import Vault
import VaultCrypto
import VaultErrors
import VaultModel

@testable import Window

/// What pages are made of.
@Suite struct PagePartsTests {
  private func text(_ html: HTML) -> String {
    var out = ""
    html.write(to: &out)
    return out
  }

  @Test func nothingOfARecordBecomesMarkup() {
    let hostile = "<script>\"'&</p>\u{0}\u{1B}[2J\u{202E}"
    let out = text(tag("p", ["title": hostile, "hidden": "", "id": nil]) { hostile })
    let escaped = "&lt;script&gt;&quot;&#39;&amp;&lt;/p&gt;\u{2400}\u{241B}[2J\u{202E}"
    #expect(out == "<p title=\"\(escaped)\" hidden>\(escaped)</p>")
    #expect(text(tag("br")) == "<br>")
    #expect(text(.text("a\tb\nc\rd\u{7F}e\u{85}")) == "a\tb\nc\u{240D}d\u{2421}e\u{FFFD}")
  }

  @Test func whatTheJournalAddsIsSaidInThePagesLanguage() {
    let german = Texts.all[1]
    #expect(german.detail("editor") == german("role.editor"))
    #expect(german.detail("invitation") == "Einladung")
    #expect(german.detail("12 objects") == "12 objects" && german.detail("").isEmpty)
  }

  @Test func theTypeOfARecordIsChosenByItsName() {
    func fields(type: String) -> String {
      var form = NoteForm(new: .visit, date: "")
      form.lines = [NoteForm.Line(name: "type", value: type)]
      return text(NoteFields(texts: Texts.all[1], form: form).html)
    }
    let vaccine = fields(type: "vaccine")
    #expect(vaccine.contains("<option value=\"vaccine\" selected>Impfung</option>"))
    #expect(vaccine.contains("<option value=\"visit\">Besuch</option>"))
    // As it is spelt, so that nothing changes where nothing else is chosen.
    let result = fields(type: "Lab-Result")
    #expect(result.contains("<option value=\"Lab-Result\" selected>Laborwert</option>"))
    #expect(!result.contains("lab result"))
    let own = fields(type: "Impfpass")
    #expect(own.contains("<option value=\"Impfpass\" selected>Impfpass</option>"))
    #expect(fields(type: "").contains("<option value selected>–</option>"))
  }

  @Test func aTypeOfOnesOwnIsTypedAndAKnownOneIsFound() {
    let german = Texts.all[1]
    #expect(german.recordType(typed: "Impfpass") == "Impfpass")
    #expect(german.recordType(typed: "impfung") == "vaccine")
    #expect(german.recordType(typed: "Lab Results") == "lab result")
    #expect(german.recordType(typed: "") == "")
    let before = NoteForm(RecordDocument(Array("---\ntype: note\n---\n".utf8)))
    var sent = NoteForm(sentBack(before))
    sent.takeType("Impfpass")
    #expect(sent.lines[0].value == "Impfpass" && sent.problem([], before: before) == nil)
    // What no list could name is told, unless it was so before.
    sent.takeType(String(repeating: "ä", count: 17))
    #expect(sent.problem([], before: before) == "edit.badType")
    #expect(sent.problem([], before: sent) == nil)
    var without = NoteForm(RecordDocument(Array("Only text.".utf8)))
    without.takeType("Impfpass")
    #expect(without.lines.isEmpty)
  }

  @Test func ofTwoTextsOnlyTheLinesThatDifferStandOut() {
    func marked(_ shown: String, _ other: String) -> String {
      text(ConflictsPage.marked(shown, other: other))
    }
    #expect(marked("a\nb\nc\n", "a\nx\ny\nc\n") == "a\n<mark>b</mark>\nc\n")
    #expect(marked("a\nx\ny\nc\n", "a\nb\nc\n") == "a\n<mark>x\ny</mark>\nc\n")
    // What the other has besides is marked there.
    #expect(marked("a\na", "a\na\na") == "a\na")
    #expect(marked("a\na\na", "a\na") == "a\na\n<mark>a</mark>")
    #expect(marked("a", "b") == "<mark>a</mark>" && marked("a", "a") == "a")
  }

  @Test func aNameIsNotTurnedRound() {
    #expect(text(named("rtl\u{202E}fdp.exe")) == "<bdi>rtl\u{FFFD}fdp.exe</bdi>")
    #expect(text(named("ltr\u{202D}ليلى")) == "<bdi>ltr\u{FFFD}ليلى</bdi>")
    #expect(text(named(" ")) == "<bdi>“ ”</bdi>" && text(named("")) == "<bdi></bdi>")
    #expect(text(named("ليلى - Levothyroxine")) == "<bdi>ليلى - Levothyroxine</bdi>")
  }

  @Test(arguments: [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[x](javascript:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)", "<a href=\"javascript:alert(1)\">x</a>",
    "![x](javascript:alert(1))", "<javascript:alert(1)>", "[x](vbscript:alert(1))",
    "<iframe src=//evil.example></iframe>", "a\n<style>*{}</style>",
    "[x]: javascript:alert(1)\n[x]",
  ])
  func aNoteRunsNothing(note: String) {
    let out = text(Markdown.html(of: note)).lowercased()
    for bad in ["<script", "javascript:", "vbscript:", "onerror", "<iframe", "<style", "data:text"]
    {
      // As text it may stand there.
      #expect(!out.contains("=\"\(bad)") && !out.contains("<\(bad.drop { $0 == "<" })"))
    }
    #expect(!out.contains("onerror=alert(1)>") || out.contains("&lt;img"))
  }

  @Test func notesAreMarkdown() {
    #expect(text(Markdown.html(of: "a *b*\nc")).contains("a <em>b</em><br />"))
  }

  @Test func everyLanguageSaysEverything() throws {
    for texts in Texts.all {
      #expect(texts.keys == Texts.all[0].keys, "\(texts.language)")
      for key in texts.keys {
        for place in ["{0}", "{1}", "{2}"] {
          let holes = Texts.all.filter { $0(key).contains(place) }.count
          #expect(holes == 0 || holes == Texts.all.count, "\(key)")
        }
      }
    }
    let file = try #require(FileName("card.jpg"))
    let changes: [RecordChange] = [
      .created, .deleted, .restored, .renamed(from: .record), .moved(from: nil), .attributes,
      .added(.record), .unreadableFiles, .added(file), .removed(file), .changed(file),
    ]
    for change in changes { #expect(Texts.all[0].keys.contains("history.\(change.word)")) }
    for kind in Problem.Kind.allCases {
      #expect(Texts.all[0].keys.contains("check.problem.\(kind)"))
    }
    for type in RecordType.allCases {
      #expect(Texts.all[1].type(type.rawValue) != type.rawValue)
      for field in type.usualFields { #expect(Texts.all[0].keys.contains("field.\(field)")) }
    }
  }

  /// What somebody can meet on the page, in each language and with what it is about.
  @Test(arguments: [
    VaultError.thisDeviceRemoved(time: 0), .passwordIsNotEnough,
    .damagedSlot(path: "objects/ab", reason: "cut"), .damaged(path: "objects/ab", reason: "cut"),
    .missing(path: "objects/ab"), .away(path: "objects/ab", reason: "it is off"),
    .gone(path: "objects/ab", record: nil),
    .rolledBack(path: "heads/ab", found: 1, seen: 2), .forked(path: "heads/ab", counter: 1),
    .branched(path: "heads/ab", above: 1), .noSpace(path: "objects/ab"), .readOnly,
    .noRoomForNewKeys(member: MemberID.random(), byteCount: 3 << 30),
    .permission(path: "objects/ab"), .noAccess(member: MemberID.random()),
    .viewersOnlyRead(member: MemberID.random()), .ownersOnly(member: MemberID.random()),
    .lastOwner(member: MemberID.random()), .epochSpent(member: MemberID.random()), .notNeeded,
    .keysAwaited(person: PersonID.random()),
    .accessEnded(member: MemberID.random()), .notFound(what: "file"),
    .alreadyExists(what: "objects/ab"), .limit(what: "names", found: 2, limit: 1),
    .changedMeanwhile(record: RecordID.random()), .io(path: "objects/ab", errno: EIO),
    .io(path: "objects/ab", errno: EMFILE),
  ])
  func aFailureIsSaidInEachLanguage(error: VaultError) throws {
    let said = try Texts.all.map { try #require($0.failure(error)) }
    #expect(Set(said).count == Texts.all.count)
    let isOfAFile = "\(error)".contains("objects/ab") && !"\(error)".contains("away")
    for text in said {
      #expect(!text.contains("{"))
      #expect(text.contains("objects/ab") == isOfAFile || "\(error)".contains("noSpace"))
    }
  }

  /// What it means in the page's language, and what exactly it is marked as English.
  @Test(arguments: RemoteProblem.Kind.allCases)
  func aProblemOfARemoteIsSaidInEachLanguage(kind: RemoteProblem.Kind) {
    let problem = RemoteProblem(remote: "<usb>", kind: kind, text: "heads/ab: <cut>")
    let said = Texts.all.map { text(problem.html($0, namesRemote: true)) }
    #expect(Set(said).count == Texts.all.count)
    for text in said {
      #expect(text.contains("<bdi>&lt;usb&gt;</bdi>: "))
      #expect(text.contains(#" lang="en">heads/ab: &lt;cut&gt;<"#))
    }
    #expect(!text(problem.html(Texts.all[0], namesRemote: false)).contains("usb"))
  }

  @Test(arguments: [
    (nil, "en"), ("", "en"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr, de;q=0.5", "de"),
    ("xx", "en"), ("EN-us", "en"), (";;;,,,", "en"),
  ])
  func aBrowserIsAnsweredInItsLanguage(wish: String?, language: String) {
    #expect(Texts.for(wish).language == language)
  }

  @Test func datesAndSizesAreInTheLanguage() {
    let (english, german) = (Texts.all[0], Texts.all[1])
    #expect(english.date("2025-01-20") == "20 January 2025")
    #expect(german.date("2025-03-01") == "1. März 2025")
    #expect(german.date("2025-03") == "März 2025")
    for odd in ["", "2025-00", "2025-13-01", "2025-01-32", "last spring", "-", "2025-01-20-1"] {
      #expect(english.date(odd) == odd)
    }
    #expect(english.byteCount(999) == "999 B" && german.byteCount(1_449_000) == "1,4 MB")
  }

  /// What looks for it is a form: no address has such words.
  @Test func whatStandsInOtherRecordsIsLookedFor() {
    let frame = PageFrame(texts: Texts.all[0])
    let tags = NoteForm(RecordDocument(Array("---\ntags: [a b, '<c>', ❤]\n---\n".utf8))).lines[0]
    let out = text(frame.finding(tags.values))
    #expect(out.contains("action=\"/search\"") && !out.contains("href"))
    #expect(out.contains(" value=\"&quot;a b&quot;\"") && out.contains("<bdi>&lt;c&gt;</bdi>"))
    #expect(out.ranges(of: "<button").count == 2 && out.contains(", <bdi>❤</bdi>"))
  }

  // MARK: Forms

  @Test func formsSayWhatWasTyped() {
    let form = FormValues("a=1&b=x+y%20z&c=%C3%A4&a=2&d&bad=%zz&cut=%C3&e=%3D%26")
    #expect(form["a"] == "1" && form["b"] == "x y z" && form["c"] == "ä" && form["d"] == "")
    #expect(form["bad"] == nil && form["cut"] == nil && form["e"] == "=&" && form["f"] == nil)
  }

  private func encoded(_ values: [(String, String)]) -> FormValues {
    FormValues(
      values.map { name, value in
        let bytes = value.utf8.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }
        return "\(name)=\(bytes.joined())"
      }.joined(separator: "&"))
  }

  /// As a browser sends a form back in which nobody has changed anything.
  private func sentBack(_ form: NoteForm) -> FormValues {
    var values: [(String, String)] = form.isRaw ? [("raw", "1")] : []
    for (number, line) in form.lines.enumerated() {
      values.append(("name.\(number)", line.name))
      if !line.isComplex {
        values.append(("value.\(number)", line.value.replacing("\n", with: "\r\n")))
      }
    }
    if form.keepsText { return encoded(values) }
    // A form feed is nothing that a page may have.
    let text = form.text.replacing("\u{0C}", with: "\u{240C}").replacing("\n", with: "\r\n")
    return encoded(values + [("text", text)])
  }

  private static let notes = [
    "", "Only text.\n", "no line feed at the end",
    "---\ntype: vaccine\ndate: 2025-01-20\ntags: [a, b]\nlot: 'AB'   # card\n---\n\nText.\n\nMore.\n",
    "---\ntype: note\ndoses:\n  - {n: 1, on: 2024}\n  - {n: 2, on: 2025}\ntext: |\n  two\n  lines\n---\n",
    "---\n: : :\n---\nwhat cannot be read\n", "---\nnever closed\n",
    "---\ntags: ['a, b', c]\n---\nlists with commas\n", "---\r\ntype: note\r\n---\r\nwindows\r\n",
    "---\r\ntype: note\r\n---\r\n\r\ntwo\r\nlines\r\n", "---\r\n: : :\r\n---\r\nwindows\r\n",
    "one page\u{0C}and another\n", "---\nnever closed\n\u{0C}\n",
  ]

  @Test(arguments: notes)
  func whatNobodyHasChangedStays(note: String) {
    let base = RecordDocument(Array(note.utf8))
    let form = NoteForm(sentBack(NoteForm(base)))
    let after = form.applied(to: base)
    #expect(after == base.bytes)
  }

  /// Bytes that are no text stay, whatever else of the note is changed; what is typed over them is refused.
  @Test(arguments: ["", "---\ntype: note\n---\n\n", "---\nnever closed\n"])
  func whatIsNoTextStays(beginning: String) throws {
    let base = RecordDocument(Array(beginning.utf8) + [0x67, 0xFF, 0x0A])
    let form = NoteForm(base)
    #expect(NoteForm(sentBack(form)).applied(to: base) == base.bytes)
    #expect(!text(NoteFields(texts: Texts.all[0], form: form).html).contains("<textarea"))
    if !form.isRaw {
      var sent = NoteForm(sentBack(form))
      sent.lines.append(NoteForm.Line(name: "lot", value: "AB"))
      let after = RecordDocument(sent.applied(to: base))
      #expect(try after.frontMatter()?["lot"] == .text("AB"))
      #expect(after.bytes.suffix(3) == base.bytes.suffix(3))
    }
    var typed = form
    typed.keepsText = false
    let sent = NoteForm(sentBack(typed))
    #expect(sent.problem(sent.applied(to: base), before: form) == "edit.notText")
  }

  @Test func oneFieldAndTheTextAreChanged() throws {
    let base = RecordDocument(Array(Self.notes[3].utf8))
    var form = NoteForm(base)
    form.lines[3].value = "CD: 'x'"
    form.lines[2].value = "a, c ,, d"
    form.lines.append(NoteForm.Line(name: "site", value: "left"))
    form.text = "Other."
    let after = RecordDocument(NoteForm(sentBack(form)).applied(to: base))
    let fields = try #require(try after.frontMatter()).fields
    #expect(fields.map(\.name) == ["type", "date", "tags", "lot", "site"])
    #expect(fields[3].value == .text("CD: 'x'"))
    #expect(fields[2].value == .list([.text("a"), .text("c"), .text("d")]))
    #expect(String(decoding: after.text, as: UTF8.self) == "\nOther.\n")
  }

  /// What cannot be saved so is told, and is still in the form.
  @Test func aFieldWithoutNameAndOneTwiceAreTold() throws {
    let base = RecordDocument(Array(Self.notes[3].utf8))
    for (name, problem) in [("", "edit.nameless"), ("lot", "edit.twice")] {
      var form = NoteForm(base)
      form.lines.append(NoteForm.Line(name: name, value: "kept"))
      let sent = NoteForm(sentBack(form))
      #expect(sent.problem(base.bytes, before: NoteForm(base)) == problem)
      var shown = ""
      NoteFields(texts: Texts.all[0], form: sent).html.write(to: &shown)
      #expect(shown.contains("value=\"kept\""))
    }
    var form = NoteForm(base)
    form.lines.append(NoteForm.Line(name: " ", value: ""))
    #expect(
      NoteForm(sentBack(form)).lines
        == NoteForm(base).lines.map { line in
          var line = line
          line.isList = false
          return line
        })
  }

  @Test func aDateIsReadWhereItWasTyped() {
    let odd = NoteForm(RecordDocument(Array("---\ndate: 1.2.2025\n---\n".utf8)))
    var same = NoteForm(sentBack(odd))
    same.readDate(before: odd)
    #expect(same.lines[0].value == "1.2.2025")
    same.lines[0].value = "3.2.2025 "
    same.readDate(before: odd)
    #expect(same.lines[0].value == "2025-02-03")
  }

  /// A field that somebody else has added meanwhile is not in the form, and stays.
  @Test func whatTheFormDoesNotHaveStays() throws {
    let old = NoteForm(RecordDocument(Array("---\ntype: note\n---\n".utf8)))
    let base = RecordDocument(Array("---\ntype: note\nlot: new\n---\n".utf8))
    let after = RecordDocument(NoteForm(sentBack(old)).applied(to: base))
    #expect(try after.frontMatter()?["lot"] == .text("new"))
  }

  @Test func soughtWordsKeepTheirNameUntilOthersAreTooMany() {
    var sought = SoughtWords()
    let first = sought.name(of: "penicillin")
    #expect(!first.contains("penicillin") && first.count == 32)
    #expect(sought.name(of: "penicillin") == first && sought.name(of: "Penicillin") != first)
    for number in 2..<SoughtWords.limit { _ = sought.name(of: "word \(number)") }
    #expect(sought.words(named: first) == "penicillin")
    let last = sought.name(of: String(repeating: "x", count: 5000))
    #expect(sought.words(named: last)?.count == SoughtWords.characterLimit)
    #expect(sought.words(named: first) == nil && sought.name(of: "penicillin") != first)
  }

  @Test func whatAnAddressIsGivenIsReadBack() {
    for text in ["a b&c=d", "ليلى", "%2F+", "\r\nX: y", ""] {
      #expect(FormValues("x=" + FormValues.encoded(text))["x"] == text)
    }
    var wish = ListPage.Wish()
    (wish.find, wish.type) = ("ab", "a&b c")
    let again = ListPage.Wish(FormValues(String(wish.query.dropFirst())))
    #expect(again.find == "ab" && again.type == "a&b c" && again.query == wish.query)
    wish.deleted = true
    #expect(!wish.query.contains("find"))
  }

  @Test func anyFileNameHasAnAddress() throws {
    let address = RecordAddress(member: .zero, record: .root)
    for bytes: [UInt8] in [[0xFF, 0xFE], Array("a b/?#%".utf8.filter { $0 != 0x2F }), [1, 0x0A]] {
      let name = try #require(FileName(bytes))
      let digits = try #require(address.path(of: name).split(separator: "/").last)
      #expect(RecordAddress.fileName(String(digits)) == name)
    }
    for wrong in ["", "0", "zz", "2f", "00", "2e2e", String(repeating: "61", count: 300)] {
      #expect(RecordAddress.fileName(wrong) == nil)
    }
  }
}
