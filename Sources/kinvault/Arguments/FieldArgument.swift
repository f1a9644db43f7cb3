import ArgumentParser

/// A field of a record as `name=value`.
struct FieldArgument: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let separator = argument.firstIndex(of: "=") else { return nil }
    name = String(argument[..<separator])
    value = String(argument[argument.index(after: separator)...])
    guard !name.isEmpty, !name.contains(where: \.isNewline) else { return nil }
  }
}
