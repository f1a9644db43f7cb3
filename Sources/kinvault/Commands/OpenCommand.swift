import ArgumentParser
import BlobStore
import Glibc
import Rendering
import Threads
import Vault
import Window

struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Show the vault in your browser.",
    discussion: """
      Serves a page to the browsers of this machine, and of this user alone: records of all members, newest first; search as \
      you type; what is attached; new records, changes, conflicts; who has access; syncs, checks, the journal. Nothing leaves \
      the machine but for a sync that you ask for, and nothing is on the disk unencrypted.

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
    OpenFileLimit.raise()
    // Before there is any other thread: each has them wait for the one that looks for them.
    let signals = HeldSignals([SIGINT, SIGTERM, SIGHUP])
    let folder = try access.folderOptions.folder()
    let id = try Vault.describe(folder: folder).vault
    let gate = PageGate(
      folder, of: id, access, Renderer.installed(), log: MountLog.begin(id, isWatched: false))
    let window = Window(gate, log: gate.log)
    _ = SystemThread.detach {
      signals.wait()
      window.stop()
    }
    let launched = Guarded<LaunchFile?>(nil)
    try window.run { opening in
      guard !noBrowser else { return tell(opening) }
      do throws(CommandError) {
        let file = LaunchFile(try BrowserLaunch.prepare(opening))
        launched.withLock { $0 = file }
        Terminal.writeLine("The vault opens in your browser. Ctrl-C ends it.")
        // The file is there for as long as `launched` has it, and nobody else keeps it.
        _ = SystemThread.detach { [weak file] in
          if start(file) { watch(window, opening) } else { tell(opening) }
          // The code is good once, and for no longer than that.
          for _ in 0..<300 where !window.hasVisitors { SystemThread.pause(for: .milliseconds(100)) }
          launched.withLock { $0 = nil }
        }
      } catch {
        Terminal.note("kinvault: \(FailureReport(error).message)")
        tell(opening)
      }
    }
    // With it goes the file, if nobody has come by it.
    launched.withLock { $0 = nil }
    Terminal.writeLine("Locked.")
  }

  private func tell(_ opening: Window.Opening) {
    Terminal.writeLine(
      """
      Address: \(opening.origin)
      Code:    \(opening.typedCode)   (once, within five minutes)
      """)
  }

  /// Starts the browser.
  ///
  /// - Returns: Whether it could be started; else it is said why not.
  private func start(_ file: LaunchFile?) -> Bool {
    do { try file?.launch.start() } catch {
      Terminal.note("kinvault: \(FailureReport(error).message)")
      return false
    }
    return true
  }

  /// Says how else to come in where the browser does not: there are such as may not read the file.
  private func watch(_ window: Window, _ opening: Window.Opening) {
    for _ in 0..<80 where !window.hasVisitors { SystemThread.pause(for: .milliseconds(100)) }
    if !window.hasVisitors { tell(opening) }
  }
}

/// The file that lets the browser in, for those who hold it.
private final class LaunchFile: Sendable {
  let launch: BrowserLaunch
  init(_ launch: consuming BrowserLaunch) { self.launch = launch }
}
