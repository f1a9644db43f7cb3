import BlobStore
import CLinux
import Glibc
import Log
import SystemPackage
import Threads
import Vault

/// Notices, on a thread of its own, that heads change in folders of vaults and that the network comes back.
///
/// Where a folder cannot be watched (a network drive, too many watches) nothing is told, and whoever asked looks now
/// and then by themself.
final class ChangeWatcher: Sendable {
  typealias Action = @Sendable () -> Void

  private struct Watched: Sendable {
    let root: FilePath
    /// Whether changes in the folder are changes of heads; else only new folders matter.
    let holdsHeads: Bool
    let action: Action
  }

  private struct State: Sendable {
    var watches: [Int32: Watched] = [:]
    var onNetwork: Action?
    var isStopping = false
  }

  private let notify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
  private let network = kv_watch_network()
  private let state = Guarded(State())
  private let log: BackgroundLog

  init(log: BackgroundLog) {
    self.log = log
    if notify < 0 || network < 0 { log.failed(.watching, kind: ErrorKind("watch", number: errno)) }
  }

  deinit {
    if notify >= 0 { close(notify) }
    if network >= 0 { close(network) }
  }

  /// Has `action` called after a head in the vault's folder was replaced or came.
  func watchHeads(in root: FilePath, _ action: @escaping Action) { scan(root, action) }

  /// Has `action` called when the network may be there again.
  func watchNetwork(_ action: @escaping Action) { state.withLock { $0.onNetwork = action } }

  func start() {
    // Without a thread nothing is told, as where nothing can be watched.
    let isStarted = SystemThread.detach { [self] in loop() }
    if !isStarted { log.failed(.watching, kind: "thread") }
  }

  func stop() { state.withLock { $0.isStopping = true } }

  // MARK: Watching

  private func scan(_ root: FilePath, _ action: @escaping Action) {
    watch(root, root: root, holdsHeads: false, action)
    let members = root.appending("members")
    watch(members, root: root, holdsHeads: false, action)
    for name in FolderNames.readable(in: members) where name.first != UInt8(ascii: ".") {
      let member = members.appending(bytes: name)
      watch(member, root: root, holdsHeads: false, action)
      watch(member.appending("heads"), root: root, holdsHeads: true, action)
    }
  }

  private func watch(
    _ folder: FilePath, root: FilePath, holdsHeads: Bool, _ action: @escaping Action
  ) {
    let mask = UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_CLOSE_WRITE) | UInt32(IN_ONLYDIR)
    let watch = inotify_add_watch(notify, folder.string, mask)
    guard watch >= 0 else {
      // A folder that is not there comes with a change of the one above it.
      if errno != ENOENT { log.failed(.watching, kind: ErrorKind("watch", number: errno)) }
      return
    }
    state.withLock {
      $0.watches[watch] = Watched(root: root, holdsHeads: holdsHeads, action: action)
    }
  }

  // MARK: The thread

  private func loop() {
    while !state.withLock({ $0.isStopping }) {
      var waiting = [
        pollfd(fd: notify, events: Int16(POLLIN), revents: 0),
        pollfd(fd: network, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&waiting, 2, 500) > 0 else { continue }
      if waiting[0].revents != 0 { readChanges() }
      if waiting[1].revents != 0, drain(network) {
        state.withLock { $0.onNetwork }?()
      }
    }
  }

  private func readChanges() {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    var touched: Set<Int32> = []
    while true {
      let count = bytes.withUnsafeMutableBytes { read(notify, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      touched.formUnion(Self.watches(in: bytes[..<count]))
    }
    let found = state.withLock { state in touched.compactMap { state.watches[$0] } }
    for one in found {
      if one.holdsHeads { one.action() } else { scan(one.root, one.action) }
    }
    // What is new may have brought heads before they were watched.
    for one in found where !one.holdsHeads { one.action() }
  }

  /// The watches whose events concern whole files and folders.
  private static func watches(in bytes: ArraySlice<UInt8>) -> Set<Int32> {
    var found: Set<Int32> = []
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      let headerSize = MemoryLayout<inotify_event>.size
      while offset + headerSize <= bytes.count {
        let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        let name = bytes[(offset + headerSize)...].prefix(Int(event.len))
        // Temporary files begin with a dot; what they become has an event of its own.
        if name.first != UInt8(ascii: ".") { found.insert(event.wd) }
        offset += headerSize + Int(event.len)
      }
    }
    return found
  }

  /// Reads all there is; false if there was nothing.
  private func drain(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    var isAny = false
    while recv(descriptor, &bytes, bytes.count, 0) > 0 { isAny = true }
    return isAny
  }
}
