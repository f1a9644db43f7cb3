import SystemPackage
import TestSupport
import Testing

/// The vault and this machine's state are on a FAT stick, which is pulled: a machine's power goes with all that its kernel
/// has not written.
@Suite(.serialized, .enabled(if: Machine.hasSmallMachines), .timeLimit(.minutes(10)))
struct StickTests {
  private let machine: SmallMachine
  private let outside: TemporaryFolder

  init() throws {
    machine = try SmallMachine(fileSystem: "vfat", megabytes: 64)
    outside = try TemporaryFolder()
    try run("sh", ["-c", "umask 077; echo 'only for tests' > '\(outside.appending("password"))'"])
  }

  /// The shell's words for the program and the vault.
  private var beginning: String {
    """
    export XDG_STATE_HOME=/mnt/disk/state KINVAULT_VAULT=/mnt/disk/Family
    export KINVAULT_PASSWORD_FILE='\(outside.appending("password"))'
    kinvault() { '\(CrashVault.binary)' "$@"; }
    """
  }

  private var making: String {
    """
    \(beginning)
    kinvault init --vault /mnt/disk/Family --name 'Adult A' --device desk \
      --password-file "$KINVAULT_PASSWORD_FILE" --words-out '\(outside.appending("words"))' --yes
    kinvault member add Emma
    """
  }

  @Test func aStickThatIsPulledAfterUnmountingHoldsWhatWasSaved() throws {
    let sums = machine.outside("sums")
    try machine.runUntilPowerCut(
      """
      \(making)
      kinvault mount /mnt/mounted
      cd /mnt/mounted/Emma
      echo 'Penicillin: severe' >allergy.txt
      head -c 300000 /dev/urandom >scan
      sha256sum * >'\(sums)'
      cd /
      kinvault unmount /mnt/mounted
      """)
    try machine.runUntilPowerCut(
      """
      \(beginning)
      kinvault mount /mnt/mounted
      cd /mnt/mounted/Emma
      sha256sum -c '\(sums)'
      echo 'and dust' >>allergy.txt
      sha256sum * >'\(sums)'
      cd /
      kinvault unmount /mnt/mounted
      """)
    try machine.runUntilPowerCut(
      """
      \(beginning)
      kinvault check --read-data
      kinvault mount /mnt/mounted
      cd /mnt/mounted/Emma
      sha256sum -c '\(sums)'
      """)
  }

  @Test func aRemoteOnAStickThatIsPulledAfterASyncIsWhole() throws {
    try machine.runUntilPowerCut(
      """
      \(beginning)
      export XDG_STATE_HOME='\(outside.appending("state"))' KINVAULT_VAULT='\(outside.appending("Family"))'
      kinvault init --vault "$KINVAULT_VAULT" --name 'Adult A' --device desk \
        --password-file "$KINVAULT_PASSWORD_FILE" --words-out '\(outside.appending("words"))' --yes
      kinvault member add Emma
      kinvault remote add stick /mnt/disk/copy
      kinvault sync
      kinvault record add --member Emma --title Allergy --note 'Penicillin: severe'
      kinvault sync
      """)
    try machine.runUntilPowerCut(
      """
      \(beginning)
      export XDG_STATE_HOME='\(outside.appending("state"))' KINVAULT_VAULT='\(outside.appending("Family"))'
      kinvault check --remote stick --read-data
      """)
  }
}
