import BlobStore
import Glibc
import SystemPackage
import Threads

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
  /// - Throws: Why it cannot be read which one of these is, or which there are, once all others were asked.
  package static func commitAll(
    stateFolder: FilePath, within seconds: Int
  ) throws(MountError) -> [UncommittedMount] {
    let folder = stateFolder.appending("mounts")
    let found = try Set(names(in: folder))
    var uncommitted: [UncommittedMount] = []
    var failure: MountError?
    for name in found.sorted() {
      do throws(MountError) {
        if name.hasSuffix(CommitSocket.suffix) {
          let registered = folder.appending(String(name.dropLast(CommitSocket.suffix.count)))
          let answer = ask(folder.appending(name), within: seconds)
          uncommitted += try mount(of: registered, after: answer)
        } else if !found.contains(name + CommitSocket.suffix) {
          let registered = folder.appending(name)
          let answer = try askByMountpoint(registered, within: seconds)
          uncommitted += try mount(of: registered, after: answer)
        }
      } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
    return uncommitted
  }

  /// The mount, if it has not committed.
  private static func mount(
    of registered: FilePath, after answer: Answer
  ) throws(MountError) -> [UncommittedMount] {
    if answer == .done || answer == .gone { return [] }
    // One that has ended meanwhile has committed, or said at its end what it could not.
    guard let mount = try runningMount(of: registered) else { return [] }
    if case .failed(let errno) = answer {
      return [UncommittedMount(mountpoint: mount.mountpoint, errno: errno)]
    }
    return [UncommittedMount(mountpoint: mount.mountpoint, errno: nil)]
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

  /// Asks a mount that has no socket, since the disk with this machine's state holds none, as a stick with FAT: by way of
  /// what it shows.
  private static func askByMountpoint(
    _ registered: FilePath, within seconds: Int
  ) throws(MountError) -> Answer {
    // One that shows nothing yet has nothing to commit.
    guard let mountpoint = try runningMount(of: registered)?.mountpoint,
      try MountTable.isVaultMount(mountpoint)
    else { return .gone }
    let answer = Monitor<Answer?>(nil)
    let isAsked = SystemThread.detach {
      let given = commit(mountpoint)
      answer.change { $0 = given }
    }
    guard isAsked else { return .silent }
    let end = ContinuousClock.now + .seconds(seconds)
    return answer.wait { answer in
      if let answer { return .answer(answer) }
      let left = end - .now
      guard left > .zero else { return .answer(.silent) }
      return .waitAtMost(left)
    }
  }

  private static func commit(_ mountpoint: FilePath) -> Answer {
    do {
      try CommitRequest.run(mountpoint)
      return .done
    } catch {
      switch error {
      case .system(_, _, ENOTCONN): return .gone  // the process was killed
      case .notSaved(_, let errno), .system(_, _, let errno): return .failed(errno: errno)
      default: return .silent
      }
    }
  }
}
