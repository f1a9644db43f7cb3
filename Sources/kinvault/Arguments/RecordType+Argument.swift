import ArgumentParser
import Notes
import Vault

extension RecordType: ExpressibleByArgument {
  package init?(argument: String) { self.init(parsing: argument) }

  package static var allValueStrings: [String] {
    allCases.map { $0.rawValue.split(separator: " ").joined(separator: "-") }
  }

  package var defaultValueDescription: String { rawValue }
}
