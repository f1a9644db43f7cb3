import Testing

@testable import VaultCrypto

/// Vectors from the standards.
@Suite struct KnownAnswerTests {
  // MARK: AES-256-GCM, McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13-16

  static let gcmKey = String(repeating: "feffe9928665731c6d6a8f9467308308", count: 2)
  static let gcmPlaintext = """
    d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
    1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
    """
  static let gcmCiphertext = """
    522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
    8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
    """

  @Test(arguments: [
    (
      String(repeating: "00", count: 32), String(repeating: "00", count: 12), "", "", "",
      "530f8afbc74536b9a963b4f1c4cb738b"
    ),
    (
      String(repeating: "00", count: 32), String(repeating: "00", count: 12),
      String(repeating: "00", count: 16), "", "cea7403d4d606b6e074ec5d3baf39d18",
      "d0d1c8a799996bf0265b98b5d48ab919"
    ),
    (
      gcmKey, "cafebabefacedbaddecaf888", gcmPlaintext, "", gcmCiphertext,
      "b094dac5d93471bdec1a502270e3cc6c"
    ),
    (
      gcmKey, "cafebabefacedbaddecaf888", String(gcmPlaintext.dropLast(8)),
      "feedfacedeadbeeffeedfacedeadbeefabaddad2", String(gcmCiphertext.dropLast(8)),
      "76fc6ece0f4e1768cddf8853bb2d551b"
    ),
  ])
  func sealsAndOpensWithGCM(
    key: String, nonce: String, plaintext: String, additional: String, ciphertext: String,
    tag: String
  ) {
    let plaintext = hex(plaintext)
    var output = [UInt8](repeating: 0, count: plaintext.count)
    var computedTag = [UInt8](repeating: 0, count: 16)
    GCM.withCipher(key: hex(key), .seal) { cipher in
      hex(additional).withUnsafeBytes { cipher.start(nonce: hex(nonce), additionalData: $0) }
      // In pieces, as object bodies are.
      for start in stride(from: 0, to: plaintext.count, by: 7) {
        let piece = Array(plaintext[start..<min(start + 7, plaintext.count)])
        output.withUnsafeMutableBytes { output in
          piece.withUnsafeBytes { cipher.update($0, into: output.baseAddress! + start) }
        }
      }
      cipher.finishSealing(tag: &computedTag)
    }
    #expect(output == hex(ciphertext))
    #expect(computedTag == hex(tag))

    for damagedBit in [nil, 0, 127] {
      var tag = hex(tag)
      if let damagedBit { tag[damagedBit / 8] ^= 1 << UInt8(damagedBit % 8) }
      var opened = [UInt8](repeating: 0, count: plaintext.count)
      let isAuthentic = GCM.withCipher(key: hex(key), .open) { cipher in
        hex(additional).withUnsafeBytes { cipher.start(nonce: hex(nonce), additionalData: $0) }
        hex(ciphertext).withUnsafeBytes { cipher.update($0, into: &opened) }
        return cipher.finishOpening(tag: tag)
      }
      #expect(isAuthentic == (damagedBit == nil))
      #expect(opened == plaintext)
    }
  }

  // MARK: HKDF-SHA-256, RFC 5869, A.1-A.3

  @Test(arguments: [
    (
      Array(repeating: UInt8(0x0b), count: 22), Array(0x00...0x0c), Array(0xf0...0xf9),
      """
      3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865
      """
    ),
    (
      Array(0x00...0x4f), Array(0x60...0xaf), Array(0xb0...0xff),
      """
      b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
      59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
      cc30c58179ec3e87c14c01d5c1f3434f1d87
      """
    ),
    (
      Array(repeating: UInt8(0x0b), count: 22), [], [],
      """
      8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8
      """
    ),
  ])
  func derivesWithHKDF(key: [UInt8], salt: [UInt8], info: [UInt8], output: String) {
    let expected = hex(output)
    let derived = HKDF.derive(
      SecretBytes(copying: key), salt: salt, info: info, count: expected.count)
    #expect(derived.exposed == expected)
  }

  @Test func expandsAPseudorandomKey() {
    let key = HMACKey(
      SecretBytes(copying: hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")))
    var output = [UInt8](repeating: 0, count: 42)
    output.withUnsafeMutableBytes { output in
      hex("f0f1f2f3f4f5f6f7f8f9").withUnsafeBytes { HKDF.expand(key, info: $0, into: output) }
    }
    #expect(
      output
        == hex(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
  }

  // MARK: AES-KW, RFC 3394, 4.6

  @Test func wrapsWithAESKW() throws {
    let wrappingKey = SecretBytes(
      copying: hex("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"))
    let key = hex("00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F")
    let wrapped = hex(
      "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21")
    #expect(KeyWrap.wrap(SecretBytes(copying: key), under: wrappingKey) == wrapped)
    #expect(try KeyWrap.unwrap(wrapped, under: wrappingKey).exposed == key)
  }

  // MARK: Ed25519, RFC 8032, 7.1, tests 1-3

  @Test(arguments: [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      """
      e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
      5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
      """
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      """
      92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
      085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
      """
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      """
      6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
      18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
      """
    ),
  ])
  func signsWithEd25519(seed: String, publicKey: String, message: String, signature: String) {
    let key = SigningKey(seed: SecretBytes(copying: hex(seed)))
    #expect(key.publicKey == hex(publicKey))
    #expect(key.sign(hex(message)) == hex(signature))
    #expect(
      verifySignature(
        of: hex(message), signature: hex(signature), publicKey: hex(publicKey)))
    #expect(
      !verifySignature(
        of: hex(message) + [0], signature: hex(signature), publicKey: hex(publicKey)))
  }

  // MARK: Argon2id, version 1.3

  /// RFC 9106's own vector has a secret and associated data, which libsodium cannot take; so these
  /// are from PyNaCl's `tests/data/raw_argon2id_hashes.json`, made for libsodium.
  @Test(arguments: [
    ("ZTgoKeVg", "oCSdi7b6I3UYftj6", 3, 65_536, "823cd743a9378b0013a61b275d8a8d61b4abf465e3c758"),
    (
      "vl50xKRCK0EHNRY", "QWWo5rUeD3nBv0dF", 3, 262_144,
      "23560c5771bb56d02c8129effd4ff2c70d2f28e1912636ff1a4f11a6"
    ),
    (
      "EuXIuKCdFq", "OADldcmnqJHY6tkc", 5, 65_536,
      "bae0f9ff8143a141bfb8b8629414eba2c51f122b2524e73d"
    ),
  ])
  func stretchesWithArgon2id(
    password: String, salt: String, passes: UInt32, memoryKiB: UInt32, output: String
  ) throws {
    let derived = try PasswordHash.argon2id(
      SecretBytes(copying: Array(password.utf8)), salt: Array(salt.utf8),
      cost: Argon2Cost(passes: passes, memoryKiB: memoryKiB), count: hex(output).count)
    #expect(derived.exposed == hex(output))
  }

  /// From the reference implementation (phc-winner-argon2, through argon2-cffi), at costs that
  /// vaults use.
  @Test(arguments: [
    (
      "password", 3, 65_536, "def6fd068289b9a0cf1114f8e978a2c4dab6faef377d895b9c2d59fc93fc5653"
    ),
    ("", 4, 65_540, "23471627308507a0cfae62e7913404d4f701477b0a31b4d7168659c9d54bdce4"),
  ])
  func stretchesAsTheReferenceImplementation(
    password: String, passes: UInt32, memoryKiB: UInt32, output: String
  ) throws {
    let derived = try PasswordHash.stretch(
      SecretBytes(copying: Array(password.utf8)), salt: Array(0..<16),
      cost: Argon2Cost(passes: passes, memoryKiB: memoryKiB))
    #expect(derived.exposed == hex(output))
  }
}
