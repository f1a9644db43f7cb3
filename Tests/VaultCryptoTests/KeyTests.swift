import Testing
import VaultModel

@testable import VaultCrypto

/// Docs/Format.md, "4. Keys" and "5. Signed files".
@Suite struct KeyTests {
  let binding = Sample.binding

  // MARK: Wrapping

  @Test func everyDamagedWrappedKeyIsRefused() throws {
    let wrappingKey = SecretBytes(randomCount: 32)
    let key = SecretBytes(randomCount: 32)
    let wrapped = KeyWrap.wrap(key, under: wrappingKey)
    for bit in 0..<wrapped.count * 8 {
      var damaged = wrapped
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.unwrapFailed) {
        _ = try KeyWrap.unwrap(damaged, under: wrappingKey)
      }
    }
    for size in [0, 8, 16, 24, 32, 39, 41, 48] {
      #expect(throws: CryptoError.self) {
        _ = try KeyWrap.unwrap(content(size), under: wrappingKey)
      }
    }
    #expect(try KeyWrap.unwrap(wrapped, under: wrappingKey).constantTimeEquals(key) == true)
  }

  @Test func thePasswordUnwrapsTheUnlockKeyAndNoOtherDoes() throws {
    let slot = UnlockSlotID.random()
    func derive(
      _ password: String, slot other: UnlockSlotID? = nil, token: [UInt8]? = nil
    ) throws -> SlotKEK {
      var secret = SlotSecret()
      secret.append(
        try PasswordHash.stretch(
          SecretBytes(copying: Array(password.utf8)), salt: Array(0..<16), cost: .floor),
        of: .password)
      if let token { secret.append(SecretBytes(copying: token), of: .token) }
      return secret.kek(of: other ?? slot, binding: binding)
    }
    let key = DeviceUnlockKey.random()
    let wrapped = key.wrap(under: try derive("correct horse"))
    let unwrapped = try DeviceUnlockKey.unwrap(wrapped, under: derive("correct horse"))
    #expect(unwrapped.isSame(as: key) == true)
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try DeviceUnlockKey.unwrap(wrapped, under: derive("correct horsf"))
    }
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try DeviceUnlockKey.unwrap(wrapped, under: derive("correct horse", slot: .random()))
    }
    #expect(throws: CryptoError.unwrapFailed) {
      let token = [UInt8](repeating: 7, count: 32)
      _ = try DeviceUnlockKey.unwrap(wrapped, under: derive("correct horse", token: token))
    }
    #expect(throws: CryptoError.malformed(reason: "a salt has 16 bytes, not 15")) {
      _ = try PasswordHash.stretch(SecretBytes(count: 0), salt: Array(0..<15), cost: .floor)
    }
  }

  @Test func aMasterKeyUnwrapsForItsDeviceAndGenerationOnly() throws {
    let master = MasterKey.random()
    let device = AgreementKey.random()
    let context = DeviceWrapContext(
      person: Sample.person, generation: .random(), device: Sample.device)
    let wrapped = try master.wrap(
      for: context, agreementPublicKey: device.publicKey, binding: binding)
    let unwrapped = try MasterKey.unwrap(
      wrapped, for: context, agreementKey: device, binding: binding)
    #expect(unwrapped.isSame(as: master) == true)

    var otherGeneration = context
    otherGeneration.generation = .random()
    var otherPerson = context
    otherPerson.person = Sample.otherPerson
    for other in [otherGeneration, otherPerson] {
      #expect(throws: CryptoError.unwrapFailed) {
        _ = try MasterKey.unwrap(wrapped, for: other, agreementKey: device, binding: binding)
      }
    }
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try MasterKey.unwrap(
        wrapped, for: context, agreementKey: .random(), binding: binding)
    }
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try MasterKey.unwrap(
        wrapped, for: context, agreementKey: device, binding: Sample.otherBinding)
    }
  }

  @Test func masterKeysOpenTheGenerationBefore() throws {
    let older = MasterKey.random()
    let newer = MasterKey.random()
    let wrapped = newer.wrapPrevious(older, binding: binding)
    #expect(try newer.unwrapPrevious(wrapped, binding: binding).isSame(as: older) == true)
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try older.unwrapPrevious(wrapped, binding: binding)
    }
  }

  @Test func aWrapOpensForItsGenerationAndEpochAndNoOther() throws {
    let key = Sample.familyMemberKey()
    let taker = AgreementKey.random()
    let commitment = key.commitment(member: Sample.member, binding: binding)
    let context = EpochWrapContext(
      member: Sample.member, commitment: commitment, person: Sample.person, generation: .zero)
    let wrapped = try key.wrap(
      for: context, agreementPublicKey: taker.publicKey, binding: binding)
    #expect(wrapped.count == 1_161 && wrapped.first == 1)
    let opened = try FamilyMemberKey.unwrap(
      wrapped, for: context, agreementKey: taker.expanded(), binding: binding)
    #expect(opened.commitment(member: Sample.member, binding: binding) == commitment)
    #expect(
      opened.keyID(member: Sample.member, binding: binding)
        == key.keyID(member: Sample.member, binding: binding))

    var others = [EpochWrapContext](repeating: context, count: 4)
    others[0].member = MemberID([UInt8](repeating: 1, count: 32))!
    others[1].commitment = FamilyMemberKey.random().commitment(
      member: Sample.member, binding: binding)
    others[2].person = Sample.otherPerson
    others[3].generation = StatementID([UInt8](repeating: 2, count: 32))!
    for other in others {
      #expect(throws: CryptoError.unwrapFailed) {
        _ = try FamilyMemberKey.unwrap(
          wrapped, for: other, agreementKey: taker.expanded(), binding: binding)
      }
    }
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try FamilyMemberKey.unwrap(
        wrapped, for: context, agreementKey: AgreementKey.random().expanded(), binding: binding)
    }
    // Another suite, and what is cut or goes on.
    for file in [[2] + wrapped.dropFirst(), Array(wrapped.dropLast()), wrapped + [0], []] {
      #expect(throws: CryptoError.self) {
        _ = try FamilyMemberKey.unwrap(
          file, for: context, agreementKey: taker.expanded(), binding: binding)
      }
    }
  }

  // MARK: Deriving

  @Test func agreementKeysDifferByMasterKeyAndVault() {
    let master = MasterKey.random()
    let keys = [
      master.agreementKey(binding: binding).publicKey,
      MasterKey.random().agreementKey(binding: binding).publicKey,
      master.agreementKey(binding: Sample.otherBinding).publicKey,
    ]
    #expect(Set(keys).count == 3)
    #expect(master.agreementKey(binding: binding).publicKey == keys[0])
  }

  @Test func equalBytesAreEqualPrivateKeys() {
    let bytes = SecretBytes(randomCount: 32)
    #expect(SigningKey(seed: bytes.copy()).publicKey == SigningKey(seed: bytes.copy()).publicKey)
    #expect(
      AgreementKey(privateKey: bytes.copy()).publicKey
        == AgreementKey(privateKey: bytes.copy()).publicKey)
  }

  // MARK: Signing and sealing

  @Test func aSignatureIsValidForItsFileOnly() {
    let key = SigningKey.random()
    let body = content(300)
    let signature = key.sign(binding.signedMessage(.head, path: "a", body: body))
    func isValid(
      label: FileLabel = .head, binding: Binding = Sample.binding, path: String = "a",
      body: [UInt8] = content(300), key: [UInt8]
    ) -> Bool {
      verifySignature(
        of: binding.signedMessage(label, path: path, body: body), signature: signature,
        publicKey: key)
    }
    #expect(isValid(key: key.publicKey))
    #expect(!isValid(label: .deviceRegister, key: key.publicKey))
    #expect(!isValid(binding: Sample.otherBinding, key: key.publicKey))
    #expect(!isValid(path: "b", key: key.publicKey))
    #expect(!isValid(body: content(299), key: key.publicKey))
    #expect(!isValid(key: SigningKey.random().publicKey))
    for size in [0, 31, 33] { #expect(!isValid(key: content(size))) }
  }

  /// What was found valid is remembered: for this key, signature and message only.
  @Test func aSignatureThatWasFoundValidSaysNothingOfOthers() {
    let key = SigningKey.random()
    let (message, signature) = (content(40), key.sign(content(40)))
    func isValid(_ message: [UInt8], _ signature: [UInt8], _ key: [UInt8]) -> Bool {
      verifySignature(of: message, signature: signature, publicKey: key)
    }
    for _ in 0..<2 {
      #expect(isValid(message, signature, key.publicKey))
      #expect(!isValid(message + [0], signature, key.publicKey))
      #expect(!isValid(message, signature, SigningKey.random().publicKey))
      // The same bytes, cut elsewhere.
      let all = key.publicKey + signature + message
      #expect(!isValid(Array(all[95...]), Array(all[31..<95]), Array(all[..<31])))
      #expect(!isValid(Array(all[97...]), Array(all[33..<97]), Array(all[..<33])))
      #expect(!isValid(Array(all[97...]), Array(all[32..<97]), Array(all[..<32])))
    }
  }

  @Test func ofValidSignaturesTheLastOnesAreRemembered() {
    let known = ValidSignatures(limit: 8)
    let hashes = (0..<20).map { Digest.sha256([$0]) }
    known.add(hashes[0])
    for hash in hashes.dropFirst() {
      #expect(!known.holds(hash))
      known.add(hash)
      #expect(known.holds(hash))
      // What is asked for again and again stays.
      #expect(known.holds(hashes[0]))
    }
    #expect((4...8).contains(hashes.count { known.holds($0) }))
  }

  @Test func everyDamagedSignatureIsRefused() {
    let key = SigningKey.random()
    let signature = key.sign(content(10))
    for bit in 0..<signature.count * 8 {
      var damaged = signature
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(!verifySignature(of: content(10), signature: damaged, publicKey: key.publicKey))
    }
    for size in [0, 63, 65] {
      #expect(
        !verifySignature(of: content(10), signature: content(size), publicKey: key.publicKey))
    }
  }

  @Test func aSealedValueOpensInItsFileOnly() throws {
    let key = MasterKey.random().profileKey(binding: binding)
    let sealed = key.seal(content(50), label: .deviceRegister, path: "p", counter: 1)
    #expect(try key.open(sealed, label: .deviceRegister, path: "p", counter: 1) == content(50))
    for (label, path, counter) in [
      (FileLabel.head, "p", UInt64(1)), (.deviceRegister, "q", 1), (.deviceRegister, "p", 2),
    ] {
      #expect(throws: CryptoError.authenticationFailed) {
        try key.open(sealed, label: label, path: path, counter: counter)
      }
    }
    #expect(throws: CryptoError.authenticationFailed) {
      try MasterKey.random().profileKey(binding: binding)
        .open(sealed, label: .deviceRegister, path: "p", counter: 1)
    }
    #expect(key.seal([], label: .deviceRegister, path: "p", counter: 1).nonce != sealed.nonce)
  }

  @Test func everyDamagedSealedValueIsRefused() {
    let key = MasterKey.random().auditKey(binding: binding)
    let sealed = key.seal(content(20), label: .audit, path: "p", counter: 1)
    for bit in 0..<(12 + 36) * 8 {
      var damaged = sealed
      if bit < 96 {
        damaged.nonce[bit / 8] ^= 1 << UInt8(bit % 8)
      } else {
        damaged.ciphertext[bit / 8 - 12] ^= 1 << UInt8(bit % 8)
      }
      #expect(throws: CryptoError.authenticationFailed) {
        try key.open(damaged, label: .audit, path: "p", counter: 1)
      }
    }
    for (nonceSize, size) in [(0, 36), (11, 36), (13, 36), (12, 0), (12, 15)] {
      #expect(throws: CryptoError.self) {
        try key.open(
          Sealed(nonce: content(nonceSize), ciphertext: content(size)), label: .audit,
          path: "p", counter: 1)
      }
    }
  }

  // MARK: Names

  @Test func idsAreHashesOfKeys() {
    #expect(
      PersonID(rootPublicKey: [1, 2]).bytes
        == Digest.sha256(Array("kinvault person".utf8) + [0, 1, 2]).bytes)
    #expect(
      DeviceID(signingPublicKey: [1], agreementPublicKey: [2]).bytes
        == Digest.sha256(Array("kinvault device".utf8) + [0, 1, 2]).bytes)
    #expect(MemberID(rootFile: [1]).bytes == Digest.sha256([1]).bytes)
  }
}
