import Foundation
import SystemPackage
import TestSupport
import Testing
import VaultModel

@testable import VaultCrypto

/// X-Wing, and what is wrapped with it.
@Suite struct HybridTests {
  private struct Vector: Decodable {
    var seed: String
    var pk: String
    var ct: String
    var ss: String
  }

  private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent()
  private static let vectors = root.appending("Fixtures/xwing/draft-06.json")

  /// The second implementation: kyber-py, with X25519 and the combination of both written out.
  private static func second(_ arguments: String..., input: String = "") throws -> String {
    let folder = FilePath(#filePath).removingLastComponent()
    let result = try CommandRunner.run(
      root.appending(".build-python/bin/python").string,
      [folder.appending("xwing.py").string] + arguments, input: Array(input.utf8))
    #expect(result.status == 0, "\(result.errors)")
    return result.output
  }

  @Test func theDraftsVectorsHold() throws {
    let vectors = try JSONDecoder().decode(
      [Vector].self, from: Data(contentsOf: URL(filePath: Self.vectors.string)))
    #expect(vectors.count == 3)
    for vector in vectors {
      let key = AgreementKey(privateKey: SecretBytes(copying: hex(vector.seed)))
      #expect(key.publicKey == hex(vector.pk))
      #expect(try key.expanded().secret(of: hex(vector.ct)).exposed == hex(vector.ss))
    }
    #expect(try Self.second("vectors", Self.vectors.string) == "3\n")
  }

  @Test func aSecondImplementationAgrees() throws {
    var lines: [String] = []
    var ours: [(seed: [UInt8], publicKey: [UInt8], secret: [UInt8])] = []
    for _ in 0..<8 {
      let seed = SecretBytes(randomCount: 32)
      let key = AgreementKey(privateKey: seed.copy())
      let agreed = try AgreementKey.agree(with: key.publicKey)
      ours.append((seed.exposed, key.publicKey, agreed.secret.exposed))
      lines.append(
        [seed.exposed, key.publicKey, agreed.encapsulated].map(Hex.encode).joined(separator: " "))
    }
    let answers = try Self.second("agree", input: lines.joined(separator: "\n"))
      .split(separator: "\n").map { $0.split(separator: " ").map { hex(String($0)) } }
    try #require(answers.count == ours.count && answers.allSatisfy { $0.count == 4 })
    for (own, answer) in zip(ours, answers) {
      #expect(answer[0] == own.publicKey)
      #expect(answer[1] == own.secret, "what we sent, opened there")
      let key = AgreementKey(privateKey: SecretBytes(copying: own.seed))
      #expect(
        try key.expanded().secret(of: answer[3]).exposed == answer[2],
        "what was sent there, opened here")
    }
  }

  /// Points of small order: u = 0, 1, and the two of order 8 and p − 1, p, p + 1.
  @Test(arguments: [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ])
  func aPointOfSmallOrderIsRefused(u: String) throws {
    let key = AgreementKey.random()
    #expect(throws: CryptoError.invalidKey) {
      _ = try AgreementKey.agree(with: key.publicKey.dropLast(32) + hex(u))
    }
    let encapsulated = try AgreementKey.agree(with: key.publicKey).encapsulated
    #expect(throws: CryptoError.self) {
      _ = try key.expanded().secret(of: encapsulated.dropLast(32) + hex(u))
    }
  }

  @Test(arguments: [0, 32, 1_215, 1_217, 2_048]) func aKeyOfAnotherSizeIsRefused(size: Int) {
    #expect(throws: CryptoError.invalidKey) { _ = try AgreementKey.agree(with: content(size)) }
    #expect(throws: CryptoError.self) {
      _ = try AgreementKey.random().expanded().secret(of: content(size))
    }
  }

  /// ML-KEM's part has coefficients below 3,329 (FIPS 203, 7.2).
  @Test func aKeyWithACoefficientTooLargeIsRefused() {
    var key = AgreementKey.random().publicKey
    key[0] = 0xff
    key[1] |= 0x0f
    #expect(throws: CryptoError.invalidKey) { _ = try AgreementKey.agree(with: key) }
  }

  /// Whoever breaks one of the two algorithms has not broken the wrap: each half of what is sent is a part of the key.
  @Test(arguments: [0, 1_087, 1_088, 1_119]) func eachHalfCounts(position: Int) throws {
    let key = AgreementKey.random()
    let agreed = try AgreementKey.agree(with: key.publicKey)
    var altered = agreed.encapsulated
    altered[position] ^= 1
    #expect(try key.expanded().secret(of: agreed.encapsulated).exposed == agreed.secret.exposed)
    #expect(try key.expanded().secret(of: altered).exposed != agreed.secret.exposed)
  }

  @Test func aWrapOpensForWhatItIsForAndAsNothingElse() throws {
    let key = AgreementKey.random()
    let secret = SecretBytes(copying: content(32))
    let info = Array("what it is".utf8)
    let wrap = try HybridWrap.wrap(secret, for: key.publicKey, info: info)
    #expect(wrap.count == 1_161)
    #expect(try HybridWrap.unwrap(wrap, with: key.expanded(), info: info).exposed == content(32))
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try HybridWrap.unwrap(wrap, with: AgreementKey.random().expanded(), info: info)
    }
    #expect(throws: CryptoError.unwrapFailed) {
      _ = try HybridWrap.unwrap(wrap, with: key.expanded(), info: info + [0])
    }
    for position in stride(from: 1, to: wrap.count, by: 29) {
      var altered = wrap
      altered[position] ^= 4
      #expect(throws: CryptoError.self) {
        _ = try HybridWrap.unwrap(altered, with: key.expanded(), info: info)
      }
    }
    for other in [[2] + wrap.dropFirst(), wrap + [0], wrap.dropLast(), []] {
      #expect(throws: CryptoError.self) {
        _ = try HybridWrap.unwrap(Array(other), with: key.expanded(), info: info)
      }
    }
  }
}
