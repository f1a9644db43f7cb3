import BlobStore
import Glibc
import MachineState
import SystemPackage
import Traces
import Vault
import VaultErrors
import VaultModel
import VaultMount

/// What other programs keep of one vault's mounts on this machine.
///
/// Whatever fails here is told and stops nothing: mounting and unmounting go before cleaning.
struct VaultTraces {
  private let state: StateFolder
  private let vault: VaultID

  static func open(vault: VaultID) throws(VaultError) -> VaultTraces {
    let state = try StateFolder.open(root: Environment.stateRoot, vault: vault)
    return VaultTraces(state: state, vault: vault)
  }

  /// Those of every vault that was ever mounted at an absolute path without links.
  static func ofVaults(mountedAt path: FilePath) -> [VaultTraces] {
    let vaults: [VaultID]
    do { vaults = try StateFolder.vaults(below: Environment.stateRoot) } catch {
      // Unmounting goes on; what other programs keep is not looked for.
      Terminal.note("kinvault: \(FailureReport(error).message)")
      return []
    }
    return vaults.compactMap { vault in
      do throws(VaultError) {
        let traces = try VaultTraces.open(vault: vault)
        let places = try traces.state.loadMountpoints().places
        return places.contains { $0.path == path.bytes } ? traces : nil
      } catch {
        // It may be of another vault; `leaks` and the next mount of that one say what is wrong with it.
        return nil
      }
    }
  }

  /// Where previews are kept; for a message.
  static var previews: FilePath { places.previews }

  // MARK: Where the vault was

  func note(_ path: FilePath, named name: FilePath, keepsTraces: Bool) -> [String] {
    attempt { () throws(VaultError) in
      try state.updateMountpoints {
        $0.note(.init(path: path.bytes, name: name.bytes, keepsTraces: keepsTraces))
      }
      return []
    }
  }

  /// Has whoever ends the mount leave everything where it is.
  func keep(at path: FilePath) throws(VaultError) {
    try state.updateMountpoints { $0.keepTraces(at: path.bytes) }
  }

  /// Every mountpoint, present and past, the newest first.
  func mountpoints() throws -> [[UInt8]] {
    let running = try runningMounts.map(\.bytes)
    let remembered = try state.loadMountpoints().places.reversed().flatMap { [$0.path, $0.name] }
    return (running + remembered).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Whether nobody was told yet that other programs keep previews; from now on somebody was.
  func isFirstToBeTold() -> Bool {
    var isFirst = false
    // Who cannot note it is told again.
    _ = attempt { () throws(VaultError) in
      try state.updateMountpoints {
        isFirst = !$0.hasToldOfPreviews
        $0.hasToldOfPreviews = true
      }
      return []
    }
    return isFirst
  }

  private var runningMounts: [FilePath] {
    get throws(MountError) {
      try MountRegistry.runningMounts(stateFolder: Environment.stateRoot.appending(vault.hex))
        .map(\.mountpoint)
    }
  }

  // MARK: What is kept of it

  /// Looks for what is kept of every mount, and removes it if that is wanted.
  func look(removing: Bool) throws -> TraceReport {
    let search = Self.search(try mountpoints())
    return removing ? search.remove(sparesUnsavedWork: false) : search.find()
  }

  /// Removes what is kept of mounts at this path, which has ended, but where it is to be kept.
  ///
  /// - Returns: What a person should know of what did not work, a line each.
  func clean(at path: FilePath) -> [String] {
    attempt { () throws(VaultError) in
      clean(try state.loadMountpoints().places.filter { $0.path == path.bytes })
    }
  }

  /// Removes what is kept of all mounts that have ended, also by a crash, but where it is to be kept.
  func cleanEnded() -> [String] {
    attempt {
      let running = Set(try runningMounts.map(\.bytes))
      return clean(try state.loadMountpoints().places.filter { !running.contains($0.path) })
    }
  }

  private func clean(_ places: [MountpointMemory.Place]) -> [String] {
    let cleaned = places.filter { !$0.keepsTraces }
    let report = Self.search(cleaned.flatMap { [$0.path, $0.name] }).remove(sparesUnsavedWork: true)
    return report.failures.map(\.text) + report.unsavedWork.map(\.unsavedText)
  }

  /// Removes what is kept of a text that was edited in a folder of its own, which goes with the text.
  ///
  /// - Returns: What a person should know of what did not work, a line each.
  static func clean(below folder: FilePath) -> [String] {
    let report = search([folder.bytes]).remove(sparesUnsavedWork: false)
    return report.failures.map {
      "kinvault: Not cleaned of what it keeps of the text: \(Terminal.visible($0.place)): "
        + "\(Terminal.visible($0.reason))."
    }
  }

  private func attempt(_ body: () throws -> [String]) -> [String] {
    do { return try body() } catch {
      return [
        "kinvault: What other programs keep of the mount could not be looked for: "
          + FailureReport(error).message
      ]
    }
  }

  private static func search(_ mountpoints: [[UInt8]]) -> TraceSearch {
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? ""
    return TraceSearch(places, below: MountedPaths(mountpoints), user: user)
  }

  private static var places: TracePlaces {
    let known = getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
    let home = Environment.value("HOME") ?? known ?? "/"
    return TracePlaces(home: FilePath(home), environment: Environment.value)
  }
}

extension Trace {
  /// For a person whose work may be in it, and who may not know that it is.
  fileprivate var unsavedText: String {
    "kinvault: Left where it is, since it may hold work that was never saved: \(kind.text) of "
      + "\(Terminal.visible(String(decoding: path, as: UTF8.self))), in \(Terminal.visible(place.string)). Whoever has "
      + "the disk can read it. To get it back, open the file again in the same program while the vault is mounted; "
      + "to remove it: kinvault leaks --clean"
  }
}

extension TraceReport.Failure {
  /// For a person who wanted to mount or unmount.
  var text: String {
    "kinvault: Not cleaned of what it keeps of the mount: \(Terminal.visible(place)): "
      + "\(Terminal.visible(reason)). To see what is kept: kinvault leaks"
  }
}
