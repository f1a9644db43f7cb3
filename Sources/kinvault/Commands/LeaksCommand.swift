import ArgumentParser
import SystemPackage
import Traces
import Vault
import VaultModel

struct LeaksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "leaks",
    abstract: "List what other programs keep of what was opened in a mount, and remove it.",
    discussion: """
      File managers keep small pictures of the scans that they show, programs keep lists of recently used files, and \
      editors what a crash could lose: outside the vault, where whoever has the disk can read it. Looks for previews, \
      recently used files, what vim, nano, LibreOffice and Okular note of documents, and databases of file indexers, \
      of every folder in which this machine has ever shown the vault. Needs no password.

      \u{2018}unmount\u{2019} removes all this by itself, and after a crash the next \u{2018}mount\u{2019} does, but for copies in which \
      a program that crashed may have left work that was never saved: these are named, and go with --clean. How to \
      have none made says Docs/Desktop.md.

      Examples:
        kinvault leaks
        kinvault leaks --clean
      """)

  @Flag(help: "Remove them.") var clean = false
  @Flag(help: "Print JSON.") var json = false
  @OptionGroup var folderOptions: FolderOptions

  private struct Output: Encodable {
    struct Found: Encodable {
      var kind: String
      var place: String
      var path: String
      var pathBytes: String?
    }

    struct Failure: Encodable {
      var place: String
      var reason: String
    }

    var mountpoints: [String]
    var areRemoved: Bool
    var traces: [Found]
    var failures: [Failure]
  }

  func run() throws {
    let traces = try VaultTraces.open(vault: Vault.describe(folder: folderOptions.folder()).vault)
    let mountpoints = try traces.mountpoints()
    let report = try traces.look(removing: clean)
    if json {
      try JSONOutput.print(output(report, mountpoints))
    } else {
      print(report, wasMounted: !mountpoints.isEmpty)
    }
    if !report.failures.isEmpty { throw CommandError.problemsFound }
  }

  private func output(_ report: TraceReport, _ mountpoints: [[UInt8]]) -> Output {
    Output(
      mountpoints: mountpoints.map { String(decoding: $0, as: UTF8.self) }, areRemoved: clean,
      traces: report.traces.map {
        Output.Found(
          kind: $0.kind.rawValue, place: $0.place.string,
          path: String(decoding: $0.path, as: UTF8.self),
          pathBytes: JSONOutput.hexUnlessText($0.path))
      }, failures: report.failures.map { Output.Failure(place: $0.place, reason: $0.reason) })
  }

  private func print(_ report: TraceReport, wasMounted: Bool) {
    for failure in report.failures {
      Terminal.note(
        "kinvault: \(Terminal.visible(failure.place)): \(Terminal.visible(failure.reason)).")
    }
    var table = Table("WHAT", "OF", "KEPT IN")
    for trace in report.traces {
      table.add([
        trace.kind.text, String(decoding: trace.path, as: UTF8.self), trace.place.string,
      ])
    }
    table.print(
      orElse: wasMounted
        ? "Nothing is kept where Kinvault looks."
        : "This machine does not remember that the vault was ever mounted here.")
    if report.traces.isEmpty { return }
    Terminal.writeLine()
    Terminal.writeLine(
      clean
        ? "Removed \(counted(report.traces.count, "trace"))."
        : "To remove them: kinvault leaks --clean")
  }
}

extension Trace.Kind {
  /// As people read it.
  var text: String {
    switch self {
    case .preview: "preview"
    case .failedPreview: "failed preview"
    case .recentFile: "recently used file"
    case .vimSwapFile: "vim's swap file"
    case .vimUndoFile: "vim's undo file"
    case .vimHistory: "vim's history"
    case .nanoHistory: "nano's history"
    case .libreOfficeHistory: "LibreOffice's list"
    case .libreOfficeCopy: "LibreOffice's copy"
    case .okularView: "Okular's view"
    case .okularHistory: "Okular's list"
    case .fileIndex: "file index"
    }
  }
}
