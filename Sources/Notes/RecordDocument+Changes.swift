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

  /// The lines of the front matter, in which those fields that stand on lines of their own have the new values, and new
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
      guard let place = Self.place(of: field, in: lines) else { return nil }
      let line = new.map { new in
        place.count == 1
          ? Self.line(new, inPlaceOf: field, on: lines[place.lowerBound]) : Self.line(new)
      }
      lines.replaceSubrange(place, with: line.map { [$0] } ?? [])
    }
    for field in fields where old[field.name] == nil { lines.append(Self.line(field)) }
    let patched = lines.flatMap { $0 + [UInt8(ascii: "\n")] }
    // Whatever the lines are: together they have to say what is wanted.
    guard let read = try? FrontMatter(parsing: patched[...], firstLine: 2), read.fields == fields
    else { return nil }
    return patched
  }

  /// The lines that by themselves say this field: one, or one and those below it that begin no other field. Comments and empty
  /// lines at their end are none of them.
  private static func place(of field: FrontMatter.Field, in lines: [[UInt8]]) -> Range<Int>? {
    if let number = lines.firstIndex(where: { says($0, field) }) { return number..<number + 1 }
    var start = 0
    while start < lines.count {
      let next = lines[(start + 1)...].firstIndex { !goesOn($0) } ?? lines.count
      var end = next
      while end > start + 1, isWithoutValue(lines[end - 1]) { end -= 1 }
      if end > start + 1, says(lines[start..<end].flatMap { $0 + [UInt8(ascii: "\n")] }, field) {
        return start..<end
      }
      start = next
    }
    return nil
  }

  /// Whether the line begins no field, unless all of them stand further right.
  private static func goesOn(_ line: [UInt8]) -> Bool {
    line.first.map { Array(" \t\r-#".utf8).contains($0) } ?? true
  }

  /// Whether the line is empty, or has a comment alone.
  private static func isWithoutValue(_ line: [UInt8]) -> Bool {
    let first = line.first { !Array(" \t\r".utf8).contains($0) }
    return first == nil || first == UInt8(ascii: "#")
  }

  /// Whether these lines by themselves say this field.
  private static func says(_ lines: [UInt8], _ field: FrontMatter.Field) -> Bool {
    (try? FrontMatter(parsing: lines[...], firstLine: 1))?.fields == [field]
  }

  /// The field as YAML, without the line feed at its end, and behind it the comment of the line that says the old one.
  private static func line(
    _ new: FrontMatter.Field, inPlaceOf old: FrontMatter.Field, on line: [UInt8]
  ) -> [UInt8] {
    let written = Self.line(new)
    let blanks = Array(" \t".utf8)
    let signs = line.indices.dropFirst().lazy.filter {
      line[$0] == UInt8(ascii: "#") && blanks.contains(line[$0 - 1])
    }
    // Each is parsed up to, and a text in quotation marks may have any number of them.
    guard let sign = signs.prefix(16).first(where: { says(Array(line[..<$0]), old) }) else {
      return written
    }
    let end = line[..<sign].lastIndex { !blanks.contains($0) } ?? line.startIndex
    let commented = written + line[(end + 1)...]
    return says(commented, new) ? commented : written
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
