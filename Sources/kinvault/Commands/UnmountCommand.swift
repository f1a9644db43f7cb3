import ArgumentParser
import SystemPackage
import VaultMount

struct UnmountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmount",
    abstract: "Unmount a vault.",
    discussion: """
      Returns when everything is saved and the mount is gone. When something cannot be saved it says so, and the \
      mount stays. Refuses while programs use files in it, and says which; --lazy takes it away at once and lets them \
      finish, whatever could not be saved.

      Previews and lists of other programs that name what was in it are cleaned (see \u{2018}kinvault leaks\u{2019}).

      Examples:
        kinvault unmount ~/family-records
        kinvault unmount ~/family-records --keep-traces
      """)

  @Argument(help: "Where it is mounted.", completion: .directory) var mountpoint: String
  @Flag(help: "Take it away even if programs use it; they keep the files that they have open.")
  var lazy = false
  @Flag(help: "Leave what other programs keep of it where it is.") var keepTraces = false

  func run() throws {
    let path = try Unmount.resolve(FilePath(mountpoint))
    let traces = VaultTraces.ofVaults(mountedAt: path)
    if keepTraces {
      for traces in traces { try traces.keep(at: path) }
    }
    do {
      try Unmount.telling(path, lazily: lazy)
    } catch {
      switch error {
      // The folder is gone all the same.
      case .stillServing, .lostAtEnd: clean(traces, at: path)
      default: break
      }
      throw error
    }
    Terminal.note("Unmounted \(mountpoint).")
    clean(traces, at: path)
  }

  /// The mount's process has cleaned if it ended in order, and could tell nobody what did not work.
  private func clean(_ traces: [VaultTraces], at path: FilePath) {
    for note in traces.flatMap({ $0.clean(at: path) }) { Terminal.note(note) }
  }
}

extension Unmount {
  /// `run`, which says on standard error what it waits for where that takes longer.
  static func telling(_ path: FilePath, lazily: Bool = false) throws(MountError) {
    let notice = WaitNotice()
    try notice.during { () throws(MountError) in
      try run(path, stateRoot: Environment.stateRoot, lazily: lazily) { step in
        notice.waits(for: text(step, at: Terminal.visible(path.string)))
      }
    }
  }

  private static var syncTime: String {
    DateText.duration(seconds: Int(SyncService.partingTime.components.seconds))
  }

  private static func text(_ step: Step, at place: String) -> String {
    switch step {
    case .saving:
      "Waiting until what was changed in \(place) is saved. That takes longer where much was, and where a remote that is "
        + "needed for it does not answer."
    case .ending(let process):
      "\(place) is unmounted. Waiting for process \(process), which sends what is new to the remotes, for \(syncTime) at "
        + "most, and closes the vault."
    }
  }
}
