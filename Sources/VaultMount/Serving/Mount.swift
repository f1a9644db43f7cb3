import Glibc
import Log
import SystemPackage
import Threads
import VaultFiles

/// A tree that the kernel shows at a mountpoint, served by threads of this process.
package final class Mount: Sendable {
  /// Why a mount ended.
  package enum Ending: Hashable, Sendable {
    /// Somebody unmounted it from outside.
    case unmounted
    /// This process was told to stop by a signal.
    case signalled(Int32)
    /// Nobody used it for as long as the idle timeout.
    case idle
  }

  /// Absolute, without links.
  package var mountpoint: FilePath { point.path }

  /// How many requests came; changes whenever somebody uses the mount.
  package var requestCount: UInt64 { service.activity.requestCount }

  let point: Mountpoint
  let service: Service
  let session: FuseSession
  private let invalidator: Invalidator
  private let loop: MountThread
  private let registration: MountRegistry.Registration?
  private let commitSocket: CommitSocket?
  private let ending = Guarded<Ending?>(nil)

  /// Mounts the tree and returns when it answers. Starts the tree, which `waitUntilEnded` stops again.
  ///
  /// Makes the mountpoint when it is missing, clears a dead mount there. Notes the mount in the state folder, where
  /// `Unmount` and `MountRegistry` find it. Leaves nothing behind when it throws.
  package static func start(_ tree: FileTree, _ setup: MountSetup) throws(MountError) -> Mount {
    try FuseConfiguration.check(setup.options)
    let point = try Mountpoint.prepare(setup.mountpoint, vault: setup.vault)
    let service = Service(tree: tree)
    // Before anybody can use the mount, or unmount it: they wait for what is registered, and have it commit.
    let entry = RunningMount(process: getpid(), mountpoint: point.path, vault: setup.vault)
    let registration = register(entry, setup.stateFolder, tree.log)
    let session: FuseSession
    do {
      session = try mount(service, on: point, setup)
    } catch {
      registration?.remove()
      point.cleanUp()
      throw error
    }
    let mount = Mount(point, service, session, registration)
    // The first answer means that the kernel and we have agreed on how to talk.
    var status = stat()
    guard point.path.withPlatformString({ lstat($0, &status) }) == 0 else {
      let reason = FuseLog.collected(orElse: "it answers: \(String(cString: strerror(errno)))")
      mount.requestEnd(.unmounted)
      _ = try? mount.waitUntilEnded()  // the first error says more
      throw .refused(point.path, reason: reason)
    }
    Readahead.raise(mountpoint: point.path)
    if let timeout = setup.options.idleTimeout { IdleWatch.start(for: mount, timeout: timeout) }
    return mount
  }

  private static func mount(
    _ service: Service, on point: Mountpoint, _ setup: MountSetup
  ) throws(MountError) -> FuseSession {
    let underneath = try point.openDescriptor()
    defer { close(underneath) }
    let session = try FuseSession(
      service: service, mountpoint: point.path, options: setup.options.list(vault: setup.vault),
      checksAccess: !setup.options.allowsOthers && geteuid() != 0)
    if !point.protect(descriptor: underneath) {
      service.tree.log.note("mountpoint can be written to while nothing is mounted")
    }
    return session
  }

  private init(
    _ point: Mountpoint, _ service: Service, _ session: FuseSession,
    _ registration: MountRegistry.Registration?
  ) {
    self.point = point
    self.service = service
    self.session = session
    self.registration = registration
    let log = service.tree.log
    let invalidator = Invalidator(session: session, log: log)
    self.invalidator = invalidator
    InterruptSignal.prepare()
    service.tree.setInvalidationHandler { invalidator.add($0) }
    service.tree.setWriteBackHandler { invalidator.writeBack($0, $1) }
    service.tree.start()
    commitSocket = Self.commitSocket(of: service.tree, registration)
    Self.reportUnsaved(of: service.tree, to: registration)
    loop = MountThread {
      InterruptSignal.unblock()
      let status = session.loop()
      // The kernel may wait for an answer before it has done what it is told, and nobody gives one any more.
      invalidator.close()
      if status != 0 { log.failed(.serving, kind: ErrorKind("kernel", number: status)) }
    }
  }

  /// A state folder that cannot be written costs `status` its entry, not the family its records.
  private static func register(
    _ entry: RunningMount, _ stateFolder: FilePath, _ log: BackgroundLog
  ) -> MountRegistry.Registration? {
    var registered: MountRegistry.Registration?
    log.attempt(.registration) { () throws(MountError) in
      registered = try MountRegistry.register(entry, stateFolder: stateFolder)
    }
    return registered
  }

  /// By which commands have what was saved here committed.
  private static func commitSocket(
    of tree: FileTree, _ registration: MountRegistry.Registration?
  ) -> CommitSocket? {
    guard let registration else { return nil }
    var socket: CommitSocket?
    tree.log.attempt(.registration) { () throws(MountError) in
      socket = try CommitSocket(beside: registration.path) { () throws(FileError) in
        try tree.commitForCommand()
      }
    }
    return socket
  }

  /// Has the registration say from now on what could not be saved.
  private static func reportUnsaved(
    of tree: FileTree, to registration: MountRegistry.Registration?
  ) {
    let log = tree.log
    let reporting = Guarded(registration)
    tree.setUnsavedHandler { [weak tree] _ in
      // What counts by now, so that of two reports at once the last is no older one.
      let failure: Int32? = reporting.withLock {
        guard let registration = $0 else { return nil }
        return registration.write(MountReport(tree?.unsaved ?? [])) ? 0 : errno
      }
      guard let failure else { return }
      if failure == 0 {
        log.succeeded(.registration)
      } else {
        log.failed(.registration, kind: ErrorKind("report", number: failure))
      }
    }
  }

  /// Ends the mount: at once when nobody uses it, else after asking the kernel for what it has not written yet, and
  /// then programs that have files open get errors. Returns when the mount no longer takes requests.
  package func requestEnd(_ reason: Ending) {
    ending.withLock { if $0 == nil { $0 = reason } }
    do {
      try KernelUnmount.run(point.path, lazily: false)
    } catch {
      guard !session.hasExited else { return }
      // Somebody uses it: programs get errors from here on.
      service.tree.log.note("mount ends while it is in use", ["kind": LogValue(ErrorKind(error))])
      WriteBack.run(point.path)
      invalidator.finish()
      session.exit()
      interruptLoop()
    }
  }

  /// Ends the mount only if nobody uses it; false when somebody does.
  func requestEndIfUnused(_ reason: Ending) -> Bool {
    ending.withLock { if $0 == nil { $0 = reason } }
    do {
      try KernelUnmount.run(point.path, lazily: false)
      return true
    } catch {
      ending.withLock { if $0 == reason { $0 = nil } }
      return false
    }
  }

  /// Returns when the mount is gone, everything is committed and the mountpoint is removed. To be called once.
  ///
  /// Throws what kept the last changes from being committed; the mount is gone all the same.
  ///
  /// - Parameter closing: What is to be over when `Unmount` returns; told whether everything was committed.
  package func waitUntilEnded(
    closing: (_ isWhole: Bool) -> Void = { _ in }
  ) throws(FileError) -> Ending {
    loop.join()
    var isWhole = false
    defer {
      session.unmount()
      point.cleanUp()
      closing(isWhole)
      commitSocket?.end()
      registration?.remove()
    }
    try service.tree.stop()
    isWhole = true
    return ending.withLock { $0 } ?? .unmounted
  }

  /// libfuse's loop waits on a semaphore, which only a signal ends; one that comes just before the wait is lost.
  private func interruptLoop() {
    var pause = timespec(tv_sec: 0, tv_nsec: 20_000_000)
    for _ in 0..<50 where !loop.hasEnded {
      loop.interrupt(with: InterruptSignal.number)
      nanosleep(&pause, nil)
    }
  }
}
