extension RecordDocument {
  /// The note with other fields and another text. What does not change stays to the byte, comments among it; where fields
  /// cannot be changed line by line the front matter is written anew.
  ///
  /// - Parameters:
  ///   - fields: All that are to be there; nil where the front matter stays as it is, also one that cannot be read.
  ///   - text: What stands below the front matter; nil where that stays.
  package func replacing(fields: [FrontMatter.Field]?, text newText: String?) -> [UInt8] {
    let body = newText.map { text in
      Self.body(Array(text.utf8), isBelow: layout.hasFrontMatter || fields != nil)
    }
    guard let fields else { return head + (body ?? Array(text)) }
    let known = (try? frontMatter())?.fields
    guard known != fields else { return head + (body ?? Array(text)) }
    let yaml = patched(to: fields) ?? Array(FrontMatter(fields: fields).yaml.utf8)
    return Array("---\n".utf8) + yaml + Array("---\n".utf8)
      + (body ?? Self.body(Array(text), isBelow: true))
  }

  /// The front matter with its lines; empty where there is none.
  private var head: [UInt8] {
    switch layout {
    case .plain, .unclosed: []
    case .frontMatter(_, let text): Array(bytes[..<text.lowerBound])
    }
  }

  /// Below front matter a text stands after an empty line, and the last line has an end. In bytes: what is no UTF-8 stays.
  private static func body(_ text: [UInt8], isBelow: Bool) -> [UInt8] {
    let lineEnds = Array("\r\n".utf8)
    let text = text.drop { lineEnds.contains($0) }
    guard let last = text.last else { return [] }
    var body = isBelow ? [UInt8(ascii: "\n")] : []
    body += text
    if !lineEnds.contains(last) { body.append(UInt8(ascii: "\n")) }
    return body
  }

  /// The lines of the front matter, in which those fields that stand on a line of their own have the new values, and new
  /// ones follow at the end; nil where that would say anything else than these fields.
  private func patched(to fields: [FrontMatter.Field]) -> [UInt8]? {
    guard case .frontMatter(let yaml, _) = layout, let old = try? frontMatter() else { return nil }
    var lines = bytes[yaml].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { Array($0) }
    // What follows the last line's end.
    if lines.last?.isEmpty == true { lines.removeLast() }
    for field in old.fields {
      let new = fields.first { $0.name == field.name }
      guard new != field else { continue }
      guard let number = lines.firstIndex(where: { Self.says($0, field) }) else { return nil }
      lines[number...number] = new.map { [Self.line($0)] }?[...] ?? []
    }
    for field in fields where old[field.name] == nil { lines.append(Self.line(field)) }
    let patched = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    // Whatever the lines are: together they have to say what is wanted.
    guard let read = try? FrontMatter(parsing: patched[...], firstLine: 2), read.fields == fields
    else { return nil }
    return patched
  }

  /// Whether this line by itself says this field.
  private static func says(_ line: [UInt8], _ field: FrontMatter.Field) -> Bool {
    (try? FrontMatter(parsing: line[...], firstLine: 1))?.fields == [field]
  }

  /// The field as YAML, without the line feed at its end.
  private static func line(_ field: FrontMatter.Field) -> [UInt8] {
    Array(FrontMatter(fields: [field]).yaml.utf8.dropLast())
  }
}

extension RecordDocument.Layout {
  fileprivate var hasFrontMatter: Bool {
    if case .frontMatter = self { true } else { false }
  }
}
