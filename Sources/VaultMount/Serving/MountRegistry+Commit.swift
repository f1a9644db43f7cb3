import BlobStore
import Glibc
import SystemPackage

/// A mount that did not commit when it was asked to.
package struct UncommittedMount: Hashable, Sendable {
  package let mountpoint: FilePath
  /// What kept it from committing; nil when it did not answer in time.
  package let errno: Int32?
}

extension MountRegistry {
  /// Has every mount of a vault commit what was changed in it, and returns when each has, or has not in time.
  ///
  /// - Parameter seconds: How long each of them may take.
  /// - Returns: Those that could not, or that did not answer.
  package static func commitAll(
    stateFolder: FilePath, within seconds: Int
  ) -> [UncommittedMount] {
    let folder = stateFolder.appending("mounts")
    return FolderNames.readable(in: folder).compactMap { name in
      let name = String(decoding: name, as: UTF8.self)
      guard name.hasSuffix(CommitSocket.suffix) else { return nil }
      let file = folder.appending(String(name.dropLast(CommitSocket.suffix.count)))
      let answer = ask(folder.appending(name), within: seconds)
      if answer == .done || answer == .gone { return nil }
      // One that has ended meanwhile has committed, or said at its end what it could not.
      guard let mount = (try? SmallFile.load(file)).flatMap(parse) else { return nil }
      if case .failed(let errno) = answer {
        return UncommittedMount(mountpoint: mount.mountpoint, errno: errno)
      }
      return UncommittedMount(mountpoint: mount.mountpoint, errno: nil)
    }
  }

  private enum Answer: Equatable {
    case done
    case failed(errno: Int32)
    case silent
    /// Nobody listens: the process was killed, or has just ended.
    case gone
  }

  private static func ask(_ path: FilePath, within seconds: Int) -> Answer {
    do {
      let descriptor = try UnixSocket.make()
      defer { close(descriptor) }
      var limit = timeval(tv_sec: seconds, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        guard setsockopt(descriptor, SOL_SOCKET, option, &limit, size) == 0 else { return .silent }
      }
      guard try UnixSocket.withAddress(of: path, { connect(descriptor, $0, $1) }) == 0 else {
        guard errno == ECONNREFUSED || errno == ENOENT else { return .silent }
        _ = path.withPlatformString { unlink($0) }
        return .gone
      }
      let line = try SmallFile.load(from: descriptor, path: path)
      guard let number = Int32(String(decoding: line.dropLast(), as: UTF8.self)) else {
        return .gone
      }
      return number == 0 ? .done : .failed(errno: number)
    } catch {
      // The caller names a mount that does not answer.
      return .silent
    }
  }
}
