import BlobStore
import MachineState
import VaultCrypto
import VaultErrors
import VaultModel

/// This machine's device in the vault, with its private keys.
package final class ThisDevice: Sendable {
  package let id: DeviceID
  package let signingKey: SigningKey
  package let agreementKey: AgreementKey

  init(
    id: DeviceID, signingKey: consuming SigningKey, agreementKey: consuming AgreementKey
  ) {
    self.id = id
    self.signingKey = signingKey
    self.agreementKey = agreementKey
  }
}

extension ThisDevice {
  /// The device that these private keys make.
  package convenience init(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes
  ) {
    let signing = SigningKey(seed: signingSeed.copy())
    let agreement = AgreementKey(privateKey: agreementPrivateKey.copy())
    let id = DeviceID(
      signingPublicKey: signing.publicKey, agreementPublicKey: agreement.publicKey)
    self.init(id: id, signingKey: signing, agreementKey: agreement)
  }
}

extension SealingKey {
  /// The device's private keys, sealed for this machine's device file.
  package func sealDeviceKeys(
    signingSeed: borrowing SecretBytes, agreementPrivateKey: borrowing SecretBytes,
    device: DeviceID
  ) -> Sealed {
    var plain = [UInt8](repeating: 0, count: DeviceKeys.encodedByteCount)
    defer { wipe(&plain) }
    plain.withUnsafeMutableBytes { output in
      signingSeed.withUnsafeBytes { seed in
        agreementPrivateKey.withUnsafeBytes { key in
          DeviceKeys.encode(signingSeed: seed, agreementPrivateKey: key, into: output)
        }
      }
    }
    return seal(plain, label: .deviceKeys, path: "device/\(device.hex)", counter: 0)
  }

  /// The device whose private keys the file seals.
  ///
  /// - Throws: `damagedSlot`, with `path` as the file's, when they do not open or are another device's.
  package func openDeviceKeys(
    of file: DeviceFile, path: String
  ) throws(VaultError) -> ThisDevice {
    try openDeviceKeys(file.deviceKeys, of: file.device, path: path)
  }

  /// The device whose private keys these are: they wait to come into its file.
  package func openDeviceKeys(
    _ keys: Sealed, of expected: DeviceID, path: String
  ) throws(VaultError) -> ThisDevice {
    let failure = VaultError.damagedSlot(path: path, reason: "its device keys do not open")
    var plain: [UInt8]
    do {
      plain = try open(
        keys, label: .deviceKeys, path: "device/\(expected.hex)", counter: 0)
    } catch {
      throw failure
    }
    defer { wipe(&plain) }
    let device = try plain.withBytes { (bytes) throws(VaultError) -> ThisDevice in
      do {
        let keys = try DeviceKeys.decode(bytes)
        return ThisDevice(
          signingSeed: SecretBytes(copying: keys.signingSeed),
          agreementPrivateKey: SecretBytes(copying: keys.agreementPrivateKey))
      } catch {
        throw failure
      }
    }
    guard device.id == expected else {
      throw .damagedSlot(path: path, reason: "its device keys are another's")
    }
    return device
  }
}
