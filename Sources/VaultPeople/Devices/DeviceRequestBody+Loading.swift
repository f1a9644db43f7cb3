import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

extension DeviceRequestBody {
  /// A machine's request to become a device of the person, as far as it can be verified without the words.
  ///
  /// - Throws: `missing`; `damaged` when it is another's, or its signature does not hold.
  package static func load(
    _ device: DeviceID, person: PersonID, files: SignedFiles
  ) throws(VaultError) -> DeviceRequestBody {
    let path = VaultPath.deviceRequest(person, device)
    let file = try files.load(path)
    let body = try file.decode(DeviceRequestBody.init(decoding:))
    let named = DeviceID(
      signingPublicKey: body.signingPublicKey, agreementPublicKey: body.agreementPublicKey)
    guard body.person == person, body.device == device, named == device else {
      throw .damaged(path: path.string, reason: "it is not this device's")
    }
    try file.verify(.request, publicKey: body.signingPublicKey)
    let consents = verifySignature(
      of: files.binding.vault.signedMessage(.device, person.bytes + device.bytes),
      signature: body.consent, publicKey: body.signingPublicKey)
    guard consents else {
      throw .damaged(path: path.string, reason: "the device does not agree to be this person's")
    }
    return body
  }
}
