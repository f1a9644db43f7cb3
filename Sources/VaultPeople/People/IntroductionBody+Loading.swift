import VaultCrypto
import VaultErrors
import VaultModel

extension IntroductionBody {
  /// How a person answered an invitation, as far as it can be verified without the invitation's secret.
  ///
  /// - Throws: `missing`; `damaged` when it is another's or its signature does not hold.
  package static func load(
    _ person: PersonID, files: SignedFiles, people: People
  ) throws(VaultError) -> (body: IntroductionBody, id: StatementID) {
    let path = VaultPath.introduction(person)
    let file = try files.load(path)
    let body = try file.decode(IntroductionBody.init(decoding:))
    guard body.person == person else {
      throw .damaged(path: path.string, reason: "it is not this person's")
    }
    return (body, try people.verify(file, .introduction, by: body.certificate, of: person))
  }
}
