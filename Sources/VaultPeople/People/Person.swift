import VaultCrypto
import VaultErrors
import VaultModel
import VaultTrust

/// A device with the certificate that it goes by.
package struct CertifiedDevice: Hashable, Sendable {
  /// Of the certificate.
  package let id: StatementID
  package let certificate: Certificate
}

/// A person as their closings and certificates show them. What counts is `VaultTrust`'s to say.
package struct Person: Sendable {
  package let id: PersonID
  package let history: PersonHistory
  /// The devices that count, each with the least of its certificates that do.
  package private(set) var devices: [DeviceID: CertifiedDevice] = [:]
  /// Devices that wait: for a closing that has not come, or for the words to join two.
  package private(set) var waiting: [DeviceID: CertifiedDevice] = [:]
  /// Devices that were left out, and have no other certificate.
  package private(set) var former: [DeviceID: CertifiedDevice] = [:]
  /// All certificates of each device that go back to words of the person, by their ids. It may have several: what it agreed to
  /// says of whom it is a device, and not who certifies it.
  package private(set) var certificates: [DeviceID: [CertifiedDevice]] = [:]

  package init(id: PersonID, history: PersonHistory, certificates: [StatementID: Certificate]) {
    self.id = id
    self.history = history
    for (statement, certificate) in certificates.sorted(by: { $0.key < $1.key }) {
      let device = certificate.device
      let certified = CertifiedDevice(id: statement, certificate: certificate)
      switch history.verdict(on: statement) {
      case .counts: devices[device] = devices[device] ?? certified
      case .waiting: waiting[device] = waiting[device] ?? certified
      case .former: former[device] = former[device] ?? certified
      // It says nothing of the person: whoever has no words of theirs can have given it.
      case .unknown: continue
      }
      self.certificates[device, default: []].append(certified)
    }
    for device in devices.keys { waiting[device] = nil }
    for device in devices.keys { former[device] = nil }
    for device in waiting.keys { former[device] = nil }
  }

  /// The closing whose generation keys are wrapped for; nil while there are several.
  package var generation: StatementID? { history.openGeneration }

  /// When the person made their first keys; milliseconds since 1970.
  package var since: UInt64 {
    history.counting.compactMap { history.valid[$0] }.first { $0.follows.isEmpty }?.time ?? 0
  }

  /// The key that keys were wrapped for in the generation; nil if none of theirs that counts was opened by it.
  package func agreementPublicKey(generation: StatementID) -> [UInt8]? {
    history.counting.contains(generation) ? history.valid[generation]?.agreementKey : nil
  }

  /// Whether keys can be wrapped for them: not while there are several generations, nor where what they say is their key is
  /// none. No honest program writes that, and whoever does gets no keys and keeps nobody else from theirs.
  package var canBeGivenKeys: Bool {
    generation.flatMap(agreementPublicKey).map(AgreementKey.isPublicKey) ?? false
  }

  /// The device as it is known here, whether it counts or not.
  package func anyCertificate(of device: DeviceID) -> CertifiedDevice? {
    devices[device] ?? waiting[device] ?? former[device]
  }

  /// Those of the device's certificates that count, by their ids.
  package func countingCertificates(of device: DeviceID) -> [CertifiedDevice] {
    (certificates[device] ?? []).filter { history.verdict(on: $0.id) == .counts }
  }

  /// When the person left the device out, in milliseconds since 1970; nil if they did not.
  package func removal(of device: DeviceID) -> UInt64? {
    guard let left = former[device] else { return nil }
    return history.closing(leavingOut: left.certificate, left.id)?.time ?? 0
  }

  /// - Throws: `wrongWords` unless the key, that of some words, has signed for this person; `replacedWords` unless it is
  ///   the last one; `keysDivided` when nothing says which is the last one.
  package func requireLast(_ key: [UInt8]) throws(VaultError) {
    if history.lastKey?.bytes == key { return }
    guard history.valid.values.contains(where: { $0.rootKey.bytes == key }) else {
      throw .wrongWords
    }
    let replacing = history.valid.values.filter { closing in
      history.counting.contains { history.valid[$0] == closing }
        && closing.endorsements.contains { $0.rootKey.bytes == key }
    }
    guard history.lastKey != nil, let time = replacing.map(\.time).min() else {
      throw .keysDivided(person: id)
    }
    throw .replacedWords(time: time)
  }

  /// - Throws: `wrongWords` unless the key has signed for this person; `replacedWords` if another one has replaced it.
  package func requireClaim(_ key: [UInt8]) throws(VaultError) {
    if history.claims.contains(where: { $0.key.bytes == key }) { return }
    let signed = history.valid.values
    guard signed.contains(where: { $0.rootKey.bytes == key }) else { throw .wrongWords }
    let replacing = signed.filter { $0.endorsements.contains { $0.rootKey.bytes == key } }
    throw .replacedWords(time: replacing.map(\.time).min() ?? 0)
  }
}
