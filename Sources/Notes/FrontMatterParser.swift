extension FrontMatter {
  /// What this YAML means. `firstLine` is the line of the document it starts on, for errors.
  ///
  /// Input is hostile: what a parser of YAML may be made to do with a few kilobytes (recursion by
  /// nesting, gigabytes by aliases) is refused by `FrontMatterBounds` before it is parsed.
  package init(parsing yaml: ArraySlice<UInt8>, firstLine: Int) throws(FrontMatterError) {
    guard String(validating: yaml, as: UTF8.self) != nil else {
      throw FrontMatterError(.notUTF8)
    }
    try FrontMatterBounds.check(yaml, firstLine: firstLine)
    let root = try yaml.withUnsafeBufferPointer { (bytes) throws(FrontMatterError) in
      try YAMLParser(bytes, firstLine: firstLine).document()
    }
    switch root {
    case .map(let fields): self.init(fields: fields)
    case .text(""), nil: self.init()
    case .text, .list: throw FrontMatterError(.notAMapping, line: firstLine)
    }
  }
}
