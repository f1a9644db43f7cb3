import SoftTokens
import Testing
import Tokens
import VaultCrypto

/// A token's `hmac-secret`, by libfido2 and a token in software.
@Suite struct SecurityTokenTests {
  private let user = [UInt8](repeating: 1, count: 16)
  private let salt = [UInt8](repeating: 5, count: 32)

  private func pin(_ text: String) -> SecretBytes { SecretBytes(copying: Array(text.utf8)) }

  @Test func givesOneSecretForOneSalt() throws {
    let token = SoftTokenPort.plug(SoftToken())
    #expect(try !token.hasPIN())
    let credential = try token.makeCredential(user: user, pin: nil)
    let first = try token.secret(of: credential, salt: salt, pin: nil)
    let again = try token.secret(of: credential, salt: salt, pin: nil)
    let other = try token.secret(
      of: credential, salt: [UInt8](repeating: 6, count: 32), pin: nil)
    #expect(first.count == SlotSecret.partSize)
    #expect(first.constantTimeEquals(again) == true)
    #expect(first.constantTimeEquals(other) == false)
  }

  @Test func isFoundWithoutATouch() throws {
    let soft = SoftToken()
    let token = SoftTokenPort.plug(soft)
    let credential = try token.makeCredential(user: user, pin: nil)
    let touches = soft.touches
    #expect(try token.knows(credential))
    #expect(try !SoftTokenPort.plug(SoftToken()).knows(credential))
    #expect(soft.touches == touches)
  }

  @Test func anotherTokenAndOneThatWasResetGiveNothing() throws {
    let soft = SoftToken()
    let token = SoftTokenPort.plug(soft)
    let credential = try token.makeCredential(user: user, pin: nil)
    soft.reset()
    for token in [token, SoftTokenPort.plug(SoftToken())] {
      #expect(throws: TokenError.another) {
        _ = try token.secret(of: credential, salt: salt, pin: nil)
      }
    }
  }

  @Test func nobodyTouchesIt() throws {
    let soft = SoftToken()
    let token = SoftTokenPort.plug(soft)
    let credential = try token.makeCredential(user: user, pin: nil)
    soft.setTouched(false)
    #expect(throws: TokenError.notConfirmed) {
      _ = try token.secret(of: credential, salt: salt, pin: nil)
    }
  }

  @Test func withAPINGivesAnotherSecretThanWithout() throws {
    let token = SoftTokenPort.plug(SoftToken(pin: "4829"))
    #expect(try token.hasPIN())
    #expect(throws: TokenError.needsPIN) {
      _ = try token.makeCredential(user: user, pin: nil)
    }
    let credential = try token.makeCredential(user: user, pin: pin("4829"))
    let secret = try token.secret(of: credential, salt: salt, pin: pin("4829"))
    let again = try token.secret(of: credential, salt: salt, pin: pin("4829"))
    let without = try token.secret(of: credential, salt: salt, pin: nil)
    #expect(secret.constantTimeEquals(again) == true)
    #expect(secret.constantTimeEquals(without) == false)
  }

  @Test func locksItselfAfterWrongPINs() throws {
    let token = SoftTokenPort.plug(SoftToken(pin: "4829"))
    let credential = try token.makeCredential(user: user, pin: pin("4829"))
    for attempt in 1...8 {
      #expect(throws: attempt == 8 ? TokenError.lockedOut : .wrongPIN) {
        _ = try token.secret(of: credential, salt: salt, pin: pin("1111"))
      }
    }
    #expect(throws: TokenError.lockedOut) {
      _ = try token.secret(of: credential, salt: salt, pin: pin("4829"))
    }
  }

  @Test func oneThatWasPulledOutIsNotHere() throws {
    let gone = SecurityToken(path: "/dev/hidraw-none", name: "gone")
    #expect {
      _ = try gone.hasPIN()
    } throws: {
      if case TokenError.noneHere = $0 { true } else { false }
    }
  }
}
