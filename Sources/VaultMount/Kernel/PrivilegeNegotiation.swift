import CFuse
import Glibc
import Synchronization

/// Tells the kernel that the tree itself drops set-user-id bits when a file is written (`FUSE_HANDLE_KILLPRIV_V2`).
///
/// Without it, the kernel asks for the attribute `security.capability` before every single write, and small writes
/// take twice as long. libfuse 3.14 does not know the flag, so it is put into the reply to the first request, FUSE_INIT,
/// whose layout is part of the kernel's stable interface (linux/fuse.h); everything else passes through unchanged.
enum PrivilegeNegotiation {
  private static let initOpcode: UInt32 = 26
  private static let handleKillprivV2: UInt32 = 1 << 28
  // struct fuse_in_header: length, opcode, unique id, …, 40 bytes; then struct fuse_init_in with its flags at 12.
  private static let opcodeOffset = 4
  private static let uniqueOffset = 8
  private static let offeredFlagsOffset = 40 + 12
  // struct fuse_out_header: length, error, unique id, 16 bytes; struct fuse_init_out has its flags at 12, too.
  private static let replyUniqueOffset = 8
  private static let replyFlagsOffset = 12

  /// Puts the two functions between libfuse and the kernel. To be called when mounted, before the loop.
  static func install(_ session: OpaquePointer) {
    var interface = fuse_custom_io()
    interface.read = { descriptor, memory, byteCount, context in
      let count = read(descriptor, memory, byteCount)
      if count > Self.offeredFlagsOffset, let memory, let context {
        let service = Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
        if !service.isNegotiated { Self.noteOffer(memory, service) }
      }
      return count
    }
    interface.writev = { descriptor, pieces, count, context in
      if count == 2, let pieces, let context {
        let service = Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
        if !service.isNegotiated { Self.accept(pieces, service) }
      }
      return writev(descriptor, pieces, count)
    }
    fuse_session_custom_io(session, &interface, fuse_session_fd(session))
  }

  private static func noteOffer(_ request: UnsafeMutableRawPointer, _ service: Service) {
    guard request.loadUnaligned(fromByteOffset: opcodeOffset, as: UInt32.self) == initOpcode else {
      return
    }
    let offered = request.loadUnaligned(fromByteOffset: offeredFlagsOffset, as: UInt32.self)
    guard offered & handleKillprivV2 != 0 else { return }
    service.negotiation.store(
      request.loadUnaligned(fromByteOffset: uniqueOffset, as: UInt64.self), ordering: .releasing)
  }

  private static func accept(_ pieces: UnsafeMutablePointer<iovec>, _ service: Service) {
    guard let header = pieces[0].iov_base, let body = pieces[1].iov_base,
      pieces[0].iov_len == 16, pieces[1].iov_len >= replyFlagsOffset + 4
    else { return }
    let unique = header.loadUnaligned(fromByteOffset: replyUniqueOffset, as: UInt64.self)
    guard unique != 0, unique == service.negotiation.load(ordering: .acquiring) else { return }
    let flags = body.loadUnaligned(fromByteOffset: replyFlagsOffset, as: UInt32.self)
    body.storeBytes(of: flags | handleKillprivV2, toByteOffset: replyFlagsOffset, as: UInt32.self)
  }
}
