import Yams

extension FrontMatter {
  /// What this YAML means. `firstLine` is the line of the document it starts on, for errors.
  ///
  /// Input is hostile: what a parser of YAML may be made to do with a few kilobytes (recursion by
  /// nesting, gigabytes by aliases) is refused by `FrontMatterBounds` before it is parsed.
  package init(parsing yaml: ArraySlice<UInt8>, firstLine: Int) throws(FrontMatterError) {
    guard let text = String(validating: yaml, as: UTF8.self) else {
      throw FrontMatterError(.notUTF8)
    }
    try FrontMatterBounds.check(yaml, firstLine: firstLine)
    guard let root = try Self.compose(text, firstLine: firstLine) else {
      self.init()
      return
    }
    switch root {
    case .mapping(let mapping): self.init(fields: Self.fields(of: mapping))
    case .scalar(let scalar) where scalar.string.isEmpty: self.init()
    case .scalar, .sequence, .alias: throw FrontMatterError(.notAMapping, line: firstLine)
    }
  }

  private static func compose(
    _ text: String, firstLine: Int
  ) throws(FrontMatterError) -> Node? {
    do {
      // The basic resolver leaves every scalar the text it is.
      return try Yams.compose(yaml: text, .basic, .default, .utf8)
    } catch let error as YamlError {
      throw FrontMatterError(error, in: text, firstLine: firstLine)
    } catch {
      throw FrontMatterError(.syntax("it cannot be read"))
    }
  }

  private static func fields(of mapping: Node.Mapping) -> [Field] {
    mapping.map { key, value in
      Field(key.scalar?.string ?? "", Self.value(of: value))
    }
  }

  private static func value(of node: Node) -> Value {
    switch node {
    case .scalar(let scalar): .text(scalar.string)
    case .sequence(let sequence): .list(sequence.map(value(of:)))
    case .mapping(let mapping): .map(fields(of: mapping))
    case .alias: .text("")
    }
  }
}

extension FrontMatterError {
  /// The parser's error, without the text of the record that it carries.
  fileprivate init(_ error: YamlError, in text: String, firstLine: Int) {
    func line(_ mark: Mark) -> Int { firstLine + max(0, mark.line - 1) }
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self.init(.syntax(problem), line: line(mark))
    case .reader(let problem, let offset, _, _):
      let before = text.utf8.prefix(offset ?? 0)
      let newlines = before.count { $0 == UInt8(ascii: "\n") }
      self.init(.syntax(problem), line: offset == nil ? nil : firstLine + newlines)
    case .duplicatedKeysInMapping(_, let context):
      self.init(.duplicateField, line: line(context.mark))
    default:
      self.init(.syntax("it cannot be read"))
    }
  }
}
