import SystemPackage
import TestSupport
import Testing

/// The vault and this machine's state are on a stick with FAT or exFAT, which is pulled: a machine's power goes with all
/// that its kernel has not written.
@Suite(.enabled(if: Machine.hasSmallMachines), .timeLimit(.minutes(60)))
struct StickTests {
  private let outside: TemporaryFolder

  init() throws {
    outside = try TemporaryFolder()
    try run("sh", ["-c", "umask 077; echo 'only for tests' > '\(outside.appending("password"))'"])
  }

  private func machine(_ fileSystem: String = "vfat") throws -> SmallMachine {
    try SmallMachine(fileSystem: fileSystem, megabytes: 64)
  }

  /// The shell's words for the program and the vault.
  private var beginning: String {
    """
    export XDG_STATE_HOME=/mnt/disk/state KINVAULT_VAULT=/mnt/disk/Family
    export KINVAULT_PASSWORD_FILE='\(outside.appending("password"))' KINVAULT_PASSWORD_TIME=1
    kinvault() { LD_PRELOAD='\(RememberedPasswords.environment["LD_PRELOAD"] ?? "")' '\(CrashVault.binary)' "$@"; }
    oracle() { python3 '\(CrashVault.oracle)' "$@"; }
    """
  }

  /// The same where both are on another disk than the stick.
  private var beginningElsewhere: String {
    """
    \(beginning)
    export XDG_STATE_HOME='\(outside.appending("state"))' KINVAULT_VAULT='\(outside.appending("Family"))'
    """
  }

  private func making(_ beginning: String) -> String {
    """
    \(beginning)
    kinvault init --vault "$KINVAULT_VAULT" --name 'Adult A' --device desk \
      --password-file "$KINVAULT_PASSWORD_FILE" --words-out '\(outside.appending("words"))' --yes
    kinvault member add Emma
    """
  }

  @Test(arguments: ["vfat", "exfat"])
  func aStickThatIsPulledAfterUnmountingHoldsWhatWasSaved(fileSystem: String) throws {
    let machine = try machine(fileSystem)
    let sums = machine.outside("sums")
    try machine.runUntilPowerCut(
      """
      \(making(beginning))
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

  @Test func noNameStandsForWhatIsFreeWhenAStickIsPulled() throws {
    let machine = try machine()
    try machine.runUntilPowerCut(making(beginning))
    #expect(try machine.namesOfWhatIsNotTheirs() == [])
    for file in 0..<3 {
      try machine.runUntilPowerCut(
        """
        \(beginning)
        kinvault mount /mnt/mounted
        head -c 300000 /dev/urandom >/mnt/mounted/Emma/scan
        echo \(file) >/mnt/mounted/Emma/\(file)
        kinvault unmount /mnt/mounted
        kinvault collect --keep-days 0 --yes
        """)
      let names = try machine.namesOfWhatIsNotTheirs()
      #expect(names == [])
    }
  }

  @Test(arguments: ["vfat", "exfat"])
  func aStickThatIsPulledWhileItIsWrittenHoldsWhatWasSynced(fileSystem: String) throws {
    let machine = try machine(fileSystem)
    try machine.runUntilPowerCut(making(beginning))
    let log = machine.outside("log")
    // A disk that is served by a program of the small machine is slow.
    for round in 0..<(fileSystem == "vfat" ? 2 : 1) {
      try machine.runUntilPowerCut(
        """
        \(beginning)
        kinvault mount /mnt/mounted
        mkdir /mnt/mounted/Emma/\(round)
        touch '\(log)'
        oracle write /mnt/mounted/Emma/\(round) '\(log)' \(round) &
        until [ "$(grep -c done '\(log)')" -ge \(20 + 10 * round) ]; do sleep 0.1; done
        """)
      if fileSystem == "vfat" { #expect(try machine.namesOfWhatIsNotTheirs() == []) }
      let found = try machine.runUntilPowerCut(
        """
        \(beginning)
        kinvault mount /mnt/mounted
        oracle verify /mnt/mounted/Emma/\(round) '\(log)'
        kinvault unmount /mnt/mounted
        kinvault check --read-data
        rm '\(log)'
        """)
      #expect(found.contains("synced paths are as they must be"), "\(found)")
    }
  }

  /// What is exported is for somebody else's machine, and the vault is on another disk.
  @Test func anExportOntoAStickThatIsPulledIsWhole() throws {
    let machine = try machine()
    let (sums, scan) = (machine.outside("sums"), outside.appending("scan"))
    try machine.runUntilPowerCut(
      """
      \(making(beginningElsewhere))
      head -c 300000 /dev/urandom >'\(scan)'
      kinvault attach Emma '\(scan)'
      kinvault record add --member Emma --title Allergy --note 'Penicillin: severe'
      kinvault export Emma /mnt/disk/Emma --yes
      cd /mnt/disk/Emma
      find . -type f -exec sha256sum {} + >'\(sums)'
      """)
    let found = try machine.runUntilPowerCut(
      """
      cd /mnt/disk/Emma
      sha256sum -c '\(sums)'
      """)
    #expect(found.contains("./scan: OK") && found.contains("record.md: OK"), "\(found)")
  }

  @Test func aRemoteOnAStickThatIsPulledAfterASyncIsWhole() throws {
    let machine = try machine()
    try machine.runUntilPowerCut(
      """
      \(making(beginningElsewhere))
      kinvault remote add stick /mnt/disk/copy
      kinvault sync
      kinvault record add --member Emma --title Allergy --note 'Penicillin: severe'
      kinvault sync
      """)
    try machine.runUntilPowerCut(
      """
      \(beginningElsewhere)
      kinvault check --remote stick --read-data
      """)
  }
}
