import VaultModel

/// A person says who another one is: `people/<person>/introductions/<id>`.
package struct SignedIntroduction: Hashable, Sendable {
  package var person: PersonID
  package var certificate: StatementID
  package var introduced: PersonID
  /// What the introduced is called, sealed for those who may know.
  package var names: [UInt8]

  package init(
    person: PersonID, certificate: StatementID, introduced: PersonID, names: [UInt8] = []
  ) {
    self.person = person
    self.certificate = certificate
    self.introduced = introduced
    self.names = names
  }

  package init(decoding body: [UInt8]) throws(ModelError) {
    self = try WireReader.read(
      body, what: "introduction", limit: StatementLimits.introductionBytes
    ) { reader throws(ModelError) in
      var person: PersonID?
      var certificate: StatementID?
      var introduced: PersonID?
      var names: [UInt8] = []
      while let tag = try reader.next() {
        switch tag {
        case .bytes(1): person = try reader.id("person")
        case .bytes(2): certificate = try reader.id("certificate")
        case .bytes(3): introduced = try reader.id("introduced")
        case .bytes(4): names = try reader.byteArray(limit: StatementLimits.nameBytes, "names")
        default: _ = try reader.skip(tag)
        }
      }
      return SignedIntroduction(
        person: try reader.required(person, "person"),
        certificate: try reader.required(certificate, "certificate"),
        introduced: try reader.required(introduced, "introduced"), names: names)
    }
  }

  package func encoded() -> [UInt8] {
    var writer = WireWriter()
    writer.id(1, person)
    writer.id(2, certificate)
    writer.id(3, introduced)
    writer.bytes(4, names)
    return writer.bytes
  }
}
