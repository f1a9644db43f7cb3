import Dispatch
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
  private let serving: MountServing
  /// Nil where nothing can be changed.
  private let lock: MountLock?
  private let ending = Guarded<Ending?>(nil)

  /// Mounts the tree and returns when it answers. Starts the tree, which `waitUntilEnded` stops again.
  ///
  /// Makes the mountpoint when it is missing, clears a dead mount there. Notes the mount in the state folder, where
  /// `Unmount` and `MountRegistry` find it. Refuses a second mount of the vault that may be written. Leaves nothing behind when
  /// it throws.
  package static func start(_ tree: FileTree, _ setup: MountSetup) throws(MountError) -> Mount {
    try FuseConfiguration.check(setup.options)
    let wanted = try Mountpoint.resolve(setup.mountpoint)
    let lock: MountLock? =
      try setup.options.isReadOnly
      ? nil : MountLock.take(for: wanted, stateFolder: setup.stateFolder)
    // Not before: a mount that ends there takes its folder along, and one that is refused is to leave it as it was.
    let point = try Mountpoint.prepare(wanted, vault: setup.vault)
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
      lock?.release()
      throw error
    }
    let mount = Mount(
      point, service, session, MountServing.begin(service, session, registration), lock)
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

  /// Throws what `start` would throw for another mount that is shown and may be written.
  package static func refuseSecond(
    at mountpoint: FilePath, stateFolder: FilePath
  ) throws(MountError) {
    try MountLock.refuseAtOnce(Mountpoint.resolve(mountpoint), stateFolder: stateFolder)
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
    _ point: Mountpoint, _ service: Service, _ session: FuseSession, _ serving: MountServing,
    _ lock: MountLock?
  ) {
    self.point = point
    self.service = service
    self.session = session
    self.serving = serving
    self.lock = lock
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
      serving.invalidator.finish()
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
    serving.loop.join()
    service.waitingWrites.wait()
    var isWhole = false
    defer {
      session.unmount()
      point.cleanUp()
      // What is left, a sync and closing the vault, may run beside another mount.
      lock?.release()
      closing(isWhole)
      serving.commitSocket?.end()
      serving.registration?.remove()
    }
    try service.tree.stop()
    isWhole = true
    return ending.withLock { $0 } ?? .unmounted
  }

  /// libfuse's loop waits on a semaphore, which only a signal ends; one that comes just before the wait is lost.
  private func interruptLoop() {
    for _ in 0..<50 where !serving.loop.hasEnded {
      serving.loop.interrupt(with: InterruptSignal.number)
      SystemThread.pause(for: .milliseconds(20))
    }
  }
}
