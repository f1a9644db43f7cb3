import Notes
import Vault
import VaultModel

/// A record's note as a form: a line for each field that is a text or a list of texts, and what stands below them.
struct NoteForm: Sendable {
  struct Line: Hashable, Sendable {
    var name: String
    /// A list has commas between its values.
    var value: String
    /// More than a text or a list of them, which a form cannot show.
    var isComplex = false
    var isList = false
  }

  var lines: [Line] = []
  var text: String
  /// The fields cannot be read, and the text is the whole note.
  var isRaw = false
  /// Not all of it is UTF-8, which no form can hold, or none was sent: the text stays as it is in the note.
  var keepsText = false

  /// What stands in a note.
  init(_ document: RecordDocument) {
    var shown = document.text
    do {
      lines = try document.frontMatter()?.fields.map(Line.init) ?? []
      // The empty line below the fields is none of the text.
      shown = shown.drop { [10, 13].contains($0) }
    } catch { (isRaw, shown) = (true, document.bytes[...]) }
    text = Self.withLineFeeds(String(decoding: shown, as: UTF8.self))
    keepsText = String(validating: shown, as: UTF8.self) == nil
  }

  /// For a new record of a type.
  init(new type: RecordType, date: String) {
    lines = FrontMatter(type: type.rawValue, date: date).fields.map(Line.init)
    text = ""
  }

  /// What somebody has sent: fields as `name.0` and `value.0`, in any number.
  init(_ sent: FormValues) {
    text = sent["text"].map(Self.withLineFeeds) ?? ""
    keepsText = sent["text"] == nil
    isRaw = sent["raw"] != nil
    for number in 0..<Self.lineLimit {
      guard let name = sent["name.\(number)"] else { break }
      let trimmed = name.trimmed
      let value = sent["value.\(number)"]?.replacing("\r\n", with: "\n") ?? ""
      if trimmed.isEmpty, value.trimmed.isEmpty { continue }
      lines.append(Line(name: trimmed, value: value))
    }
  }

  private static let lineLimit = 1000

  /// The note that comes of it.
  ///
  /// - Parameter base: What it was: fields that the form does not have stay as they are there, and everything else that
  ///   nobody has changed to the byte.
  func applied(to base: RecordDocument) -> [UInt8] {
    let before = NoteForm(base)
    if isRaw {
      let whole = String(decoding: base.bytes, as: UTF8.self)
      let isSame = keepsText || Self.sentBack(whole) == Self.sentBack(text)
      return isSame ? base.bytes : Array(text.utf8)
    }
    let isSame = Self.sentBack(before.text).trimmedEnd == Self.sentBack(text).trimmedEnd
    let newText = keepsText || isSame ? nil : text
    let fields = before.isRaw ? nil : fields(over: (try? base.frontMatter())?.fields ?? [])
    return base.replacing(fields: fields, text: newText)
  }

  private static func withLineFeeds(_ text: String) -> String {
    text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
  }

  /// A text as a browser sends it back that was shown it: with line feeds, and pictures of what no page may have.
  private static func sentBack(_ text: String) -> String {
    var sent = ""
    for scalar in withLineFeeds(text).unicodeScalars {
      sent.unicodeScalars.append(HTML.shown(scalar))
    }
    return sent
  }

  /// Takes a date as it is typed for the one that it means; what was there before stays as it is.
  mutating func readDate(before: NoteForm?) {
    guard let number = lines.firstIndex(where: { $0.name == "date" }),
      lines[number].value != before?.lines.first(where: { $0.name == "date" })?.value
    else { return }
    lines[number].value = RecordDate.reading(lines[number].value.trimmed)
  }

  /// Takes a type that was typed for the one that was chosen.
  mutating func takeType(_ type: String) {
    guard let number = lines.firstIndex(where: { $0.name == "type" }) else { return }
    lines[number].value = type
  }

  /// Why this cannot be saved, as the key of a text; nil if it can.
  ///
  /// - Parameter before: What it was; nil for a new note. What was odd before may stay so.
  func problem(_ bytes: [UInt8], before: NoteForm?) -> String? {
    if let before, before.keepsText, !keepsText { return "edit.notText" }
    if bytes.count > NoteReading.byteLimit { return "edit.tooLong" }
    let names = lines.map(\.name)
    if names.contains("") { return "edit.nameless" }
    if Set(names).count < names.count { return "edit.twice" }
    let type = newValue(of: "type", before)
    if type.utf8.count > FrontMatter.summaryFieldLimit { return "edit.badType" }
    let date = newValue(of: "date", before)
    if !date.isEmpty, !RecordDate.isWritten(date) { return "edit.badDate" }
    return nil
  }

  /// The value of a field; empty where it is the same as before.
  private func newValue(of name: String, _ before: NoteForm?) -> String {
    func value(_ form: NoteForm?) -> String { form?.lines.first { $0.name == name }?.value ?? "" }
    return value(self) == value(before) ? "" : value(self)
  }

  private func fields(over base: [FrontMatter.Field]) -> [FrontMatter.Field]? {
    var fields = base
    for line in lines {
      guard let number = fields.firstIndex(where: { $0.name == line.name }) else {
        fields.append(FrontMatter.Field(line.name, Self.value(line, isList: line.name == "tags")))
        continue
      }
      let known = Line(fields[number])
      // Said in another way is said no differently.
      guard !known.isComplex, Self.sentBack(known.value) != Self.sentBack(line.value) else {
        continue
      }
      fields[number].value = Self.value(line, isList: known.isList)
    }
    return fields.isEmpty ? nil : fields
  }

  private static func value(_ line: Line, isList: Bool) -> FrontMatter.Value {
    guard isList else { return .text(line.value) }
    var list = line
    list.isList = true
    return .list(list.values.map { .text($0) })
  }
}

extension NoteForm.Line {
  /// Those of a list, or the one that there is.
  var values: [String] {
    guard isList else { return [value] }
    return value.split(separator: ",").map(\.trimmed).filter { !$0.isEmpty }
  }

  init(_ field: FrontMatter.Field) {
    name = field.name
    switch field.value {
    case .text(let text): value = text
    case .list(let values):
      let texts = values.compactMap(\.plainText)
      isList = true
      isComplex = texts.count < values.count || texts.contains { $0.contains(",") }
      value = texts.joined(separator: ", ")
    case .map: (value, isComplex) = ("", true)
    }
  }
}

extension StringProtocol {
  /// Without white space around it.
  var trimmed: String { String(drop(while: \.isWhitespace)).trimmedEnd }

  var trimmedEnd: String {
    var text = Substring(self)
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
