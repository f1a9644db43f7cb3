import ArgumentParser
import Glibc
import Threads
import Vault
import Window

struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Show the vault in your browser.",
    discussion: """
      Serves a page to the browsers of this machine, and of this user alone: records of all members, newest first; search as \
      you type; what is attached; new records, changes, conflicts. Nothing leaves the machine, and nothing is on the disk \
      unencrypted.

      It ends, and the pages empty themselves, when somebody presses “Lock”, with ‘kinvault lock’, after five minutes in which \
      nobody has wanted anything, a minute after the last page was closed, and with Ctrl-C.

      Examples:
        kinvault open
        kinvault open --no-browser
      """)

  @Flag(help: "Print the address and a code to be typed there; open no browser.") var noBrowser =
    false
  @OptionGroup var access: AccessOptions

  func run() throws {
    // Before there is any other thread: each has them wait for the one that looks for them.
    let signals = HeldSignals([SIGINT, SIGTERM, SIGHUP])
    let gate = try PageGate(access, log: { MountLog.begin($0, isWatched: false) })
    let window = Window(gate, log: gate.log)
    _ = SystemThread.detach {
      signals.wait()
      window.stop()
    }
    try window.run { opening in
      if !noBrowser, let failure = launch(opening) {
        Terminal.note("kinvault: \(failure)")
        tell(opening)
      } else if noBrowser {
        tell(opening)
      } else {
        Terminal.writeLine("The vault is open in your browser. Ctrl-C ends it.")
      }
    }
    Terminal.writeLine("Locked.")
  }

  private func tell(_ opening: Window.Opening) {
    Terminal.writeLine(
      """
      Address: \(opening.origin)
      Code:    \(opening.typedCode)   (once, within five minutes)
      """)
  }

  /// Opens the browser.
  ///
  /// - Returns: Why that cannot be done.
  private func launch(_ opening: Window.Opening) -> String? {
    do throws(CommandError) {
      let launch = try BrowserLaunch(opening)
      try launch.start()
      _ = SystemThread.detach { [launch = Box(launch)] in
        // The code is good for no longer than that.
        sleep(30)
        withExtendedLifetime(launch) {}
      }
      return nil
    } catch { return FailureReport(error).message }
  }

  private final class Box: Sendable {
    let launch: BrowserLaunch
    init(_ launch: consuming BrowserLaunch) { self.launch = launch }
  }
}
