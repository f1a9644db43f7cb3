import Notes
import Vault
import VaultModel

/// The form by which a record is changed.
struct EditPage {
  let frame: PageFrame
  let shown: ShownRecord
  let form: NoteForm
  /// The revision that whoever edits has seen.
  var base: ContentDigest
  /// What the record's folder is called from now on; nil for what it is called.
  var name: String?
  /// Why nothing was saved.
  var problem: String?
  /// What was saved meanwhile by somebody else, as it is to be shown beside the form.
  var theirs: NoteForm?

  private var texts: Texts { frame.texts }

  var document: String {
    frame.document(
      tag("article") {
        tag("h1") { named(shown.title) }
        if let theirs {
          alert(texts("edit.conflict"))
          tag("section", ["class": "theirs"]) {
            tag("h2") { texts("edit.conflict.theirs") }
            theirs.html(texts)
          }
        }
        alert(problem)
        frame.post("\(shown.address.path)/edit", ["class": "edit"]) {
          tag("input", ["type": "hidden", "name": "base", "value": base.hex])
          if shown.entry.record != .root { nameField }
          NoteFields(texts: texts, form: form).html
          tag("p", ["class": "actions"]) {
            tag("button", ["type": "submit"]) { texts("edit.save") }
            tag("a", ["href": shown.address.path]) { texts("edit.cancel") }
          }
        }
      })
  }
}

extension EditPage {
  /// With the date that the folder's name begins with: the date among the fields is another thing.
  private var nameField: HTML {
    .group([
      tag("label", ["for": "name"]) { texts("edit.name") },
      tag(
        "input",
        [
          "id": "name", "name": "name", "value": name ?? shown.entry.title.string, "required": "",
          "autocomplete": "off", "dir": "auto",
        ]),
    ])
  }
}

extension NoteForm {
  /// To be read, and not changed.
  func html(_ texts: Texts) -> HTML {
    .group([
      lines.isEmpty
        ? .nothing
        : tag("dl") {
          for line in lines where !line.value.isEmpty || line.isComplex {
            tag("dt") { named(texts.field(line.name)) }
            tag("dd", ["dir": "auto"]) { line.isComplex ? "…" : line.value }
          }
        },
      text.isEmpty ? .nothing : tag("pre", ["dir": "auto"]) { text },
    ])
  }
}

/// The fields of a note and its text, as parts of a form. What is typed into one line browsers keep in files of their
/// own, for months, unless they are told not to; what is typed into a text area, for the way back alone.
struct NoteFields {
  let texts: Texts
  let form: NoteForm

  /// How many lines there are for fields that a record does not have yet.
  private static let spareCount = 2

  var html: HTML {
    .group([
      form.isRaw
        ? tag("input", ["type": "hidden", "name": "raw", "value": "1"])
        : tag("fieldset") {
          tag("legend") { texts("edit.fields") }
          for (number, line) in form.lines.enumerated() {
            if isOdd(number) { spare(number, line) } else { field(line, number) }
          }
          for number in 0..<Self.spareCount { spare(form.lines.count + number, nil) }
        },
      form.keepsText ? tag("p", ["class": "quiet"]) { texts("edit.notText") } : text,
    ])
  }

  private var text: HTML {
    .group([
      tag("label", ["for": "text"]) { texts(form.isRaw ? "edit.raw" : "edit.note") },
      // The first line feed in a text area is none of its text.
      tag("textarea", ["id": "text", "name": "text", "rows": "14", "dir": "auto"]) {
        "\n" + form.text
      },
    ])
  }

  private func field(_ line: NoteForm.Line, _ number: Int) -> HTML {
    .group([
      tag("label", ["for": "field\(number)"]) { named(texts.field(line.name)) },
      tag("input", ["type": "hidden", "name": "name.\(number)", "value": line.name]),
      line.isComplex
        ? tag("p", ["class": "quiet", "id": "field\(number)"]) { texts("edit.complex") }
        : input(line, number),
      line.isList && !line.isComplex
        ? tag("p", ["class": "quiet"]) { texts("edit.list") } : .nothing,
    ])
  }

  private func input(_ line: NoteForm.Line, _ number: Int) -> HTML {
    if line.value.contains("\n") {
      return tag("textarea", ["id": "field\(number)", "name": "value.\(number)", "rows": "4"]) {
        "\n" + line.value
      }
    }
    if line.name == "type", !line.isList {
      return .group([
        types(line, number), OwnTypeField(texts: texts, label: texts("edit.otherType")).html,
      ])
    }
    return tag(
      "input",
      [
        "id": "field\(number)", "name": "value.\(number)", "value": line.value,
        "autocomplete": "off", "dir": "auto",
      ])
  }

  /// The types that there are, by their names. What stands there stays as it is spelt, unless another one is chosen.
  private func types(_ line: NoteForm.Line, _ number: Int) -> HTML {
    let known = RecordType(parsing: line.value)
    return tag("select", ["id": "field\(number)", "name": "value.\(number)"]) {
      if known == nil, !line.value.isEmpty {
        tag("option", ["value": line.value, "selected": ""]) { line.value }
      }
      tag("option", ["value": "", "selected": line.value.isEmpty ? "" : nil]) { "–" }
      for type in RecordType.allCases {
        tag(
          "option",
          [
            "value": type == known ? line.value : type.rawValue,
            "selected": type == known ? "" : nil,
          ]
        ) { texts.type(type.rawValue) }
      }
    }
  }

  /// Whether a line cannot be saved so: it has no name, or that of one before.
  private func isOdd(_ number: Int) -> Bool {
    let name = form.lines[number].name
    return name.isEmpty || form.lines[..<number].contains { $0.name == name }
  }

  /// A line whose name is to be given as well.
  private func spare(_ number: Int, _ line: NoteForm.Line?) -> HTML {
    tag("p", ["class": "spare"]) {
      tag(
        "input",
        [
          "name": "name.\(number)", "value": line?.name, "aria-label": texts("edit.other.name"),
          "placeholder": texts("edit.other"), "autocomplete": "off",
        ])
      tag(
        "input",
        [
          "name": "value.\(number)", "value": line?.value,
          "aria-label": texts("edit.other.value"),
          "placeholder": texts("edit.other.value"), "autocomplete": "off",
        ])
    }
  }
}

/// A field for a type that is none of those that Kinvault knows.
struct OwnTypeField {
  let texts: Texts
  let label: String
  var value = ""
  var isRequired = false

  var html: HTML {
    .group([
      tag("label", ["for": "own"]) { label },
      tag(
        "input",
        [
          "id": "own", "name": "own", "value": value, "required": isRequired ? "" : nil,
          "autocomplete": "off", "dir": "auto",
        ]),
    ])
  }
}
