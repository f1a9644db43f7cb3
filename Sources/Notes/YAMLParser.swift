import CYAML

/// Reads YAML with libyaml, event by event. Every scalar stays the text that was written, and tags mean nothing.
struct YAMLParser: ~Copyable {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeBufferPointer<UInt8>
  /// The line of the document that the bytes begin on.
  private let firstLine: Int

  /// - Parameter bytes: UTF-8. They stay where they are as long as this value lives.
  init(_ bytes: UnsafeBufferPointer<UInt8>, firstLine: Int) {
    parser = .allocate(capacity: 1)
    self.bytes = bytes
    self.firstLine = firstLine
    precondition(yaml_parser_initialize(parser) == 1, "no memory for reading YAML")
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
  }

  deinit {
    yaml_parser_delete(parser)
    parser.deallocate()
  }

  /// The only document there is; nil when there is none.
  func document() throws(FrontMatterError) -> FrontMatter.Value? {
    _ = try next()
    guard try next().kind == .other(YAML_DOCUMENT_START_EVENT) else { return nil }
    let value = try value(from: try next())
    _ = try next()
    let end = try next()
    guard end.kind == .other(YAML_STREAM_END_EVENT) else {
      throw FrontMatterError(.syntax("there is another document in it"), line: end.line)
    }
    return value
  }

  private struct Event {
    enum Kind: Equatable {
      case text(String)
      case list
      case map
      case other(yaml_event_type_t)
    }
    var kind: Kind
    /// The line that it begins on.
    var line: Int
  }

  private func value(from event: Event) throws(FrontMatterError) -> FrontMatter.Value {
    switch event.kind {
    case .text(let text): return .text(text)
    case .list: return .list(try list())
    case .map: return .map(try map())
    // Where a value has to stand the parser gives nothing else.
    case .other: throw FrontMatterError(.aliases, line: event.line)
    }
  }

  private func list() throws(FrontMatterError) -> [FrontMatter.Value] {
    var values: [FrontMatter.Value] = []
    while true {
      let event = try next()
      if event.kind == .other(YAML_SEQUENCE_END_EVENT) { return values }
      values.append(try value(from: event))
    }
  }

  private func map() throws(FrontMatterError) -> [FrontMatter.Field] {
    var fields: [FrontMatter.Field] = []
    var keys: Set<FrontMatter.Value> = []
    while true {
      let event = try next()
      if event.kind == .other(YAML_MAPPING_END_EVENT) { return fields }
      let key = try value(from: event)
      guard keys.insert(key).inserted else {
        throw FrontMatterError(.duplicateField, line: event.line)
      }
      fields.append(FrontMatter.Field(key.plainText ?? "", try value(from: try next())))
    }
  }

  private func next() throws(FrontMatterError) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw failure }
    defer { yaml_event_delete(&event) }
    let kind: Event.Kind =
      switch event.type {
      case YAML_SCALAR_EVENT:
        .text(
          String(
            decoding: UnsafeBufferPointer(
              start: event.data.scalar.value, count: event.data.scalar.length),
            as: UTF8.self))
      case YAML_SEQUENCE_START_EVENT: .list
      case YAML_MAPPING_START_EVENT: .map
      default: .other(event.type)
      }
    return Event(kind: kind, line: firstLine + event.start_mark.line)
  }

  /// The parser's words, which carry no text of the record.
  private var failure: FrontMatterError {
    let state = parser.pointee
    guard let problem = state.problem.map({ String(cString: $0) }) else {
      return FrontMatterError(.syntax("it cannot be read"))
    }
    if state.error == YAML_READER_ERROR {
      let newlines = bytes.prefix(state.problem_offset).count { $0 == UInt8(ascii: "\n") }
      return FrontMatterError(.syntax(problem), line: firstLine + newlines)
    }
    return FrontMatterError(.syntax(problem), line: firstLine + state.problem_mark.line)
  }
}
