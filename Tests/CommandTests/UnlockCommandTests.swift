import Glibc
import SoftTokens
import SystemPackage
import TestSupport
import Testing
import VaultCrypto

@testable import kinvault

/// Several ways to unlock a vault on one machine, with the built program.
@Suite struct UnlockCommandTests {
  private let program: Program
  private var pinFile: String { program.folder.appending("pin").string }
  private var newPasswordFile: String { program.folder.appending("new").string }

  init() throws {
    program = try Program.withVault()
    try program.write("482913\n", to: pinFile)
    try program.write("another good one\n", to: newPasswordFile)
  }

  private func names() throws -> [String] {
    try program.run("unlock", "list", expecting: 0).output.split(separator: "\n").dropFirst().map {
      String($0.prefix { $0 != " " })
    }
  }

  @Test func passwordsComeAndGo() throws {
    try program.run(
      "unlock", "add", "password", "--name", "papa", "--new-password-file", newPasswordFile,
      expecting: 0)
    #expect(try names() == ["password", "papa"])
    try program.run(
      "member", "list", environment: ["KINVAULT_PASSWORD_FILE": newPasswordFile], expecting: 0)
    let twice = try program.run(
      "unlock", "add", "password", "--name", "papa", "--new-password-file", newPasswordFile,
      expecting: 11)
    #expect(twice.errors.contains("papa"))
    // What is left is to be known to work: nobody locks themself out by the one that goes.
    let own = try program.run(
      "unlock", "remove", "papa", environment: ["KINVAULT_PASSWORD_FILE": newPasswordFile],
      expecting: 3)
    #expect(own.errors.contains("none of the others"), "\(own.errors)")
    #expect(try names() == ["password", "papa"])
    try program.run("unlock", "remove", "papa", expecting: 0)
    try program.run(
      "member", "list", environment: ["KINVAULT_PASSWORD_FILE": newPasswordFile], expecting: 3)
    let last = try program.run("unlock", "remove", "password", expecting: 10)
    #expect(last.errors.contains("only way"))
    #expect(try program.run("audit", expecting: 0).output.contains("unlock remove"))
  }

  /// What is changed is kept by this machine, and only the log lies in the vault's folder.
  @Test(.enabled(if: geteuid() == 0, "NOT TESTED: only root may make a folder read-only"))
  func thePasswordOfAVaultThatMayOnlyBeReadIsChanged() throws {
    let script = """
      mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"
      """
    let changed = try CommandRunner.run(
      "setsid",
      [
        "-w", "unshare", "-m", "sh", "-c", script, "sh", program.vault, Program.executable,
        "password", "--new-password-file", newPasswordFile,
      ], environment: program.environment)
    #expect(changed.status == 0, "\(changed.output)\(changed.errors)")
    #expect(changed.output.contains("The password of this machine is changed."))
    #expect(changed.errors.contains("The new password counts all the same."), "\(changed.errors)")
    try program.run(
      "member", "list", environment: ["KINVAULT_PASSWORD_FILE": newPasswordFile], expecting: 0)
  }

  /// The PIN opens a vault that is locked; a wrong one is told, and the password will do.
  private func expectThatItsPINOpens(_ with: [String: String?]) throws {
    let right = try TerminalProgram(program, "member", "list", environment: with)
    try right.expect("PIN of")
    right.type("482913")
    try right.expect("Emma")
    #expect(right.end() == 0)
    try program.run("lock", expecting: 0)
    let wrong = try TerminalProgram(program, "member", "list", environment: with)
    try wrong.expect("PIN of")
    wrong.type("111111")
    try wrong.expect("not its PIN")
    try wrong.expect("Password of the vault")
    wrong.type("correct horse battery")
    try wrong.expect("Emma")
    #expect(wrong.end() == 0)
    try program.run("lock", expecting: 0)
  }

  @Test func aTPMOpensWithItsPIN() throws {
    let tpm = try SoftTPM()
    let with = ["KINVAULT_TPM": tpm.connection] as [String: String?]
    try program.run(
      "unlock", "add", "tpm", "--pin-file", pinFile, environment: with,
      expecting: 0)
    try program.run("lock", expecting: 0)
    try expectThatItsPINOpens(with)
  }

  @Test func aWeakPINIsWarnedOfAndAShortOneRefused() throws {
    let tpm = try SoftTPM()
    let with = ["KINVAULT_TPM": tpm.connection] as [String: String?]
    func add(_ pin: String, expecting status: Int32) throws -> String {
      try program.write("\(pin)\n", to: pinFile)
      return try program.run(
        "unlock", "add", "tpm", "--name", pin, "--pin-file", pinFile, environment: with,
        expecting: status
      ).errors
    }
    #expect(try add("4829", expecting: 10).contains("at least 6"))
    #expect(try add("121212", expecting: 0).contains("tried first"))
    #expect(try !add("482913", expecting: 0).contains("tried first"))
  }

  @Test func whichPINsAreTriedFirst() {
    func isTriedFirst(_ pin: String) -> Bool {
      NewPIN.isTriedFirst(SecretBytes(copying: Array(pin.utf8)))
    }
    for pin in [
      "111111", "121212", "123123", "12341234", "123456", "987654", "abcdef", "240983", "092483",
      "830924", "24091983", "19830924", "aaaaaaaa",
    ] { #expect(isTriedFirst(pin), "\(pin)") }
    for pin in ["482913", "135799", "135790", "24092483", "24093099", "1212123", "24091983x"] {
      #expect(!isTriedFirst(pin), "\(pin)")
    }
  }

  /// A real second factor: neither the password alone, nor the machine alone.
  @Test func bothAreNeededWhereThePersonSaysSo() throws {
    let tpm = try SoftTPM()
    let with = ["KINVAULT_TPM": tpm.connection] as [String: String?]
    let asked = try program.run(
      "unlock", "add", "tpm", "--require-both", "--pin-file", pinFile, "--new-password-file",
      newPasswordFile, environment: with, expecting: 10)
    #expect(asked.errors.contains("--yes"))
    try program.run(
      "unlock", "add", "tpm", "--require-both", "--pin-file", pinFile, "--new-password-file",
      newPasswordFile, "--yes", environment: with, expecting: 0)
    #expect(try names() == ["tpm"])
    let old = try program.run("member", "list", environment: with, expecting: 4)
    #expect(old.errors.contains("asks for a PIN"))
    // Without the TPM even the right password is not enough.
    let alone = try program.run(
      "member", "list",
      environment: [
        "KINVAULT_PASSWORD_FILE": newPasswordFile, "KINVAULT_TPM": "device:/dev/no-tpm",
      ])
    #expect(alone.status != 0)
    let both = try TerminalProgram(program, "member", "list", environment: with)
    try both.expect("Password of the vault")
    both.type("another good one")
    try both.expect("PIN of")
    both.type("482913")
    try both.expect("Emma")
    #expect(both.end() == 0)
    try program.run("lock", expecting: 0)
  }

  /// A PIN that opens the vault alone goes on doing so: who wants both is not to believe that it takes both now.
  @Test func whoNeedsBothIsToldWhatElseUnlocks() throws {
    let tpm = try SoftTPM()
    let with = ["KINVAULT_TPM": tpm.connection] as [String: String?]
    try program.run(
      "unlock", "add", "tpm", "--name", "pin", "--pin-file", pinFile, environment: with,
      expecting: 0)
    func addBoth(_ options: String..., expecting status: Int32) throws -> String {
      let result = try CommandRunner.run(
        "setsid",
        [
          "-w", Program.executable, "unlock", "add", "tpm", "--name", "both", "--require-both",
          "--pin-file", pinFile, "--new-password-file", newPasswordFile,
        ] + options,
        environment: program.environment.merging(["KINVAULT_TPM": tpm.connection]) { $1 })
      #expect(result.status == status, "\(result.output)\(result.errors)")
      return result.errors
    }
    let asked = try addBoth(expecting: 10)
    #expect(asked.contains("“pin” unlocks it as before"), "\(asked)")
    #expect(!asked.contains("only the 24 words"), "\(asked)")
    let added = try addBoth("--yes", expecting: 0)
    #expect(added.contains("“pin” unlocks it as before"), "\(added)")
    #expect(try names() == ["pin", "both"])
  }

  /// The new password counts by then, and whoever is not told that goes on typing the old one.
  @Test func aPasswordThatIsChangedIsToldWhateverComesThen() throws {
    let (people, aside) = ("\(program.vault)/people", "\(program.vault)/aside")
    #expect(rename(people, aside) == 0)
    // Without any the program would put back what it remembers.
    #expect(symlink("/dev/null", people) == 0)
    let changed = try program.run("password", "--new-password-file", newPasswordFile)
    #expect(changed.status != 0)
    #expect(changed.output.contains("is changed"), "\(changed.output)\(changed.errors)")
    #expect(unlink(people) == 0 && rename(aside, people) == 0)
    try program.run("member", "list", expecting: 3)
    try program.run(
      "member", "list", environment: ["KINVAULT_PASSWORD_FILE": newPasswordFile], expecting: 0)
  }

  @Test func aTokenOpensWithATouchAndItsPIN() throws {
    let soft = SoftToken(pin: "482913")
    let with = try PluggedToken(soft)
    let added = try program.run(
      "unlock", "add", "token", "--name", "blue", "--pin-file", pinFile,
      environment: with.environment, expecting: 0)
    #expect(added.errors.contains("Touch"), "\(added.errors)")
    #expect(try names() == ["password", "blue"])
    try program.run("lock", expecting: 0)
    let touches = soft.touches
    try expectThatItsPINOpens(with.environment)
    #expect(soft.touches > touches)
    // Where it is not plugged in, the password is asked for at once.
    try program.run("member", "list", expecting: 0)
    try program.run("unlock", "remove", "blue", expecting: 0)
    #expect(try names() == ["password"])
  }

  @Test func anotherTokenAndOneThatNobodyTouchesOpenNothing() throws {
    let soft = SoftToken()
    let with = try PluggedToken(soft)
    try program.run(
      "unlock", "add", "token", "--require-both", "--yes", "--new-password-file", newPasswordFile,
      environment: with.environment, expecting: 0)
    try program.run("lock", expecting: 0)
    var environment = with.environment
    environment["KINVAULT_PASSWORD_FILE"] = newPasswordFile
    soft.setTouched(false)
    let untouched = try program.run("member", "list", environment: environment)
    #expect(untouched.status != 0)
    #expect(untouched.errors.contains("Nobody touched it"), "\(untouched.errors)")
    soft.setTouched(true)
    // The machine and the password, with another token and with none.
    let another = try PluggedToken(SoftToken())
    for other in [another.environment, [:]] {
      var environment = other
      environment["KINVAULT_PASSWORD_FILE"] = newPasswordFile
      let result = try program.run("member", "list", environment: environment)
      #expect(result.status != 0)
      #expect(!result.output.contains("Emma"))
    }
    try program.run("member", "list", environment: environment, expecting: 0)
  }

  /// On a D-Bus of its own, with the keyring of GNOME.
  @Test func theDesktopsKeyringOpensWithoutAQuestion() throws {
    let story = """
      printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null
      set -e
      # Whoever asks before it has its name on the bus starts another one, which may find the keyring half written.
      gdbus wait --session --timeout 240 org.freedesktop.secrets
      "$0" unlock add keyring
      "$0" lock
      unset KINVAULT_PASSWORD_FILE
      "$0" member list
      "$0" lock
      export KINVAULT_PASSWORD_FILE="$1"
      "$0" unlock remove keyring
      unset KINVAULT_PASSWORD_FILE
      if "$0" member list; then echo 'still open'; fi
      """
    let result = try CommandRunner.run(
      "setsid",
      [
        "-w", "dbus-run-session", "--", "sh", "-c", story, try Program.executable,
        program.passwordFile,
      ], environment: program.environment)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("Emma"), "\(result.output)\(result.errors)")
    #expect(!result.output.contains("still open"))
    #expect(result.errors.contains("no terminal to ask"))
  }

  @Test func whatIsNotHereIsSaid() throws {
    let token = try program.run("unlock", "add", "token", expecting: 6)
    #expect(token.errors.contains("no FIDO2 token is plugged in"))
    let tpm = try program.run(
      "unlock", "add", "tpm", "--no-pin", environment: ["KINVAULT_TPM": "device:/dev/no-tpm"],
      expecting: 6)
    #expect(tpm.errors.contains("not here"))
    let keyring = try program.run("unlock", "add", "keyring", expecting: 6)
    #expect(!keyring.errors.isEmpty)
    #expect(try names() == ["password"])
  }
}
