import VaultCrypto
import VaultErrors
import VaultModel

extension SignedFiles {
  /// The register of a device of the person whose keys these are.
  ///
  /// - Throws: `missing`, `damaged`; `waiting`.
  package func loadRegister(
    of device: DeviceID, person: PersonID, signingPublicKey: [UInt8], keys: PersonKeys
  ) throws(VaultError) -> (profile: DeviceProfile, counter: UInt64, hash: FileHash) {
    let (body, hash) = try loadRegisterBody(
      of: device, person: person, signingPublicKey: signingPublicKey)
    return (try profile(in: body, keys: keys), body.counter, hash)
  }

  /// What a device says of itself in a register.
  ///
  /// - Throws: `damaged`; `waiting` for one that is sealed with keys which have not come, as where a machine and its copy have
  ///   each made new ones.
  package func profile(in body: DeviceBody, keys: PersonKeys) throws(VaultError) -> DeviceProfile {
    let path = VaultPath.device(body.person, body.device)
    guard let key = keys.profileKey(generation: body.generation) else {
      throw .waiting(path, until: "the keys have come that it is sealed with")
    }
    let plain = try open(body.sealed, with: key, .deviceRegister, path, counter: body.counter)
    do { return try DeviceProfile(decoding: plain) } catch {
      throw VaultError(error, path: path.string)
    }
  }

  /// What anybody can read of the register of a device, verified, and the hash of its file.
  ///
  /// - Throws: `missing`, `damaged`.
  package func loadRegisterBody(
    of device: DeviceID, person: PersonID, signingPublicKey: [UInt8]
  ) throws(VaultError) -> (body: DeviceBody, hash: FileHash) {
    let (body, file) = try loadRegisterWithoutVerifying(of: device, person: person)
    try file.verify(.deviceRegister, publicKey: signingPublicKey)
    return (body, file.hash)
  }

  /// What the register of a device says, and its file, whose signature is still to be verified.
  ///
  /// - Throws: `missing`; `damaged`, also when it is another device's.
  package func loadRegisterWithoutVerifying(
    of device: DeviceID, person: PersonID
  ) throws(VaultError) -> (body: DeviceBody, file: LoadedSignedFile) {
    let file = try load(.device(person, device))
    let body = try file.decode(DeviceBody.init(decoding:))
    guard body.device == device, body.person == person else {
      throw .damaged(path: file.path.string, reason: "it belongs elsewhere")
    }
    return (body, file)
  }
}
