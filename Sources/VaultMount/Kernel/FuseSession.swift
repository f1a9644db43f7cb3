import CFuse
import Glibc
import Processes
import Synchronization
import SystemPackage

/// One libfuse session, mounted when it was made.
///
/// `@unchecked Sendable`: libfuse's session may be used from any thread, and it is freed only when the last
/// thread that could use it has let go of this object.
final class FuseSession: @unchecked Sendable {
  let session: OpaquePointer
  /// libfuse holds its address.
  private let service: Service

  /// Mounts. Throws `.refused` with libfuse's own words.
  init(service: Service, mountpoint: FilePath, options: String, checksAccess: Bool)
    throws(MountError)
  {
    FuseLog.begin()
    var table = OperationTable.make(checksAccess: checksAccess)
    let words = CStringArray(["kinvault", "-o", options])
    var arguments = fuse_args(argc: 3, argv: words.pointers, allocated: 0)
    defer { fuse_opt_free_args(&arguments) }
    let made = fuse_session_new(
      &arguments, &table, MemoryLayout<fuse_lowlevel_ops>.size,
      Unmanaged.passUnretained(service).toOpaque())
    guard let made else { throw .refused(mountpoint, reason: FuseLog.collected()) }
    guard mountpoint.withPlatformString({ fuse_session_mount(made, $0) }) == 0 else {
      fuse_session_destroy(made)
      throw .refused(mountpoint, reason: FuseLog.collected())
    }
    PrivilegeNegotiation.install(made)
    session = made
    self.service = service
    service.pageCache.attach(self)
  }

  /// Serves requests on several threads until the mount is gone or `exit` was called. Returns once, for good.
  ///
  /// - Returns: Why it stopped serving all the same, as an error number; 0 if it did not.
  func loop() -> Int32 {
    let configuration = fuse_loop_cfg_create()
    defer { fuse_loop_cfg_destroy(configuration) }
    fuse_loop_cfg_set_max_threads(configuration, 12)
    // A thread keeps its memory; letting idle ones go would mean making both again for the next burst.
    fuse_loop_cfg_set_idle_threads(configuration, 12)
    // Positive: the number of a signal that ended it.
    return max(0, -fuse_session_loop_mt(session, configuration))
  }

  var hasExited: Bool { fuse_session_exited(session) != 0 }

  /// Makes the loop end after the requests under way. A loop that waits has to be interrupted by a signal.
  func exit() { fuse_session_exit(session) }

  /// Takes the mount away unless that has happened; programs that still use it get errors from then on.
  func unmount() { fuse_session_unmount(session) }

  deinit { fuse_session_destroy(session) }
}
