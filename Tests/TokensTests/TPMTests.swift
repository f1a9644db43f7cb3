import TestSupport
import Testing
import Tokens
import VaultCrypto
import VaultModel

/// Sealing by a TPM 2.0, by the TCG's software stack and swtpm.
@Suite struct TPMTests {
  private func pin(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  private func areas(_ part: UnlockPart) throws -> (publicArea: [UInt8], privateArea: [UInt8]) {
    guard case .tpm(let publicArea, let privateArea, _) = part else {
      throw TokenError.unsuitable("no part of a TPM")
    }
    return (publicArea, privateArea)
  }

  @Test func opensWhatItSealed() throws {
    let soft = try SoftTPM()
    let tpm = TPM(connection: soft.connection)
    let secret = SecretBytes(randomCount: 32)
    let (publicArea, privateArea) = try areas(tpm.seal(secret, pin: nil))
    let opened = try tpm.unseal(publicArea: publicArea, privateArea: privateArea, pin: nil)
    #expect(opened.constantTimeEquals(secret) == true)
    #expect(publicArea.count <= UnlockPart.blobLimit && privateArea.count <= UnlockPart.blobLimit)
  }

  @Test func countsWrongPINsAndLocksItself() throws {
    let soft = try SoftTPM()
    let tpm = TPM(connection: soft.connection)
    let secret = SecretBytes(randomCount: 32)
    let (publicArea, privateArea) = try areas(tpm.seal(secret, pin: pin("482913")))
    let opened = try tpm.unseal(
      publicArea: publicArea, privateArea: privateArea, pin: pin("482913"))
    #expect(opened.constantTimeEquals(secret) == true)
    #expect(throws: TokenError.wrongPIN) {
      _ = try tpm.unseal(publicArea: publicArea, privateArea: privateArea, pin: nil)
    }
    var last: TokenError?
    for number in 0..<40 where last != .lockedOut {
      do throws(TokenError) {
        _ = try tpm.unseal(
          publicArea: publicArea, privateArea: privateArea, pin: pin("\(100_000 + number)"))
      } catch { last = error }
    }
    #expect(last == .lockedOut)
    // The right one has to wait as well.
    #expect(throws: TokenError.lockedOut) {
      _ = try tpm.unseal(publicArea: publicArea, privateArea: privateArea, pin: pin("482913"))
    }
  }

  @Test func anotherTPMAndADamagedObjectGiveNothing() throws {
    let soft = try SoftTPM()
    let other = try SoftTPM()
    let tpm = TPM(connection: soft.connection)
    var (publicArea, privateArea) = try areas(tpm.seal(SecretBytes(randomCount: 32), pin: nil))
    #expect(throws: TokenError.another) {
      _ = try TPM(connection: other.connection).unseal(
        publicArea: publicArea, privateArea: privateArea, pin: nil)
    }
    privateArea[privateArea.count / 2] ^= 1
    #expect(throws: TokenError.another) {
      _ = try tpm.unseal(publicArea: publicArea, privateArea: privateArea, pin: nil)
    }
    publicArea = [UInt8](repeating: 0, count: 4_000)
    #expect(throws: TokenError.another) {
      _ = try tpm.unseal(publicArea: publicArea, privateArea: privateArea, pin: nil)
    }
  }

  @Test func aMachineWithoutOneSaysSo() throws {
    #expect {
      _ = try TPM(connection: "device:/dev/no-tpm-here").seal(
        SecretBytes(randomCount: 32), pin: nil)
    } throws: {
      if case TokenError.noneHere = $0 { true } else { false }
    }
  }
}
