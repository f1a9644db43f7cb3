import CLinux
import Glibc

/// The two ends of a pipe, which no program inherits that is not given one, and which are closed at the latest with this object.
package final class ProcessPipe {
  package private(set) var reading: Int32
  package private(set) var writing: Int32

  /// - Parameter lowest: No end has a lower number, so that giving it to a program overwrites no other one that is given.
  /// - Throws: The error number.
  package init(above lowest: Int32 = 3) throws(ChildProcess.NotStarted) {
    var ends: [Int32] = [-1, -1]
    let failure = kv_pipe(&ends)
    guard failure == 0 else { throw ChildProcess.NotStarted(errno: -failure) }
    (reading, writing) = (ends[0], ends[1])
    // Where this fails the ends are closed as if it had been used.
    for end in ends where end < lowest {
      let number = fcntl(end, F_DUPFD_CLOEXEC, lowest)
      guard number >= 0 else { throw ChildProcess.NotStarted(errno: errno) }
      close(end)
      if end == reading { reading = number } else { writing = number }
    }
  }

  /// Gives the end away: whoever takes it closes it.
  package func takeReading() -> Int32 {
    defer { reading = -1 }
    return reading
  }

  /// Gives the writing end away: whoever takes it closes it.
  package func takeWriting() -> Int32 {
    defer { writing = -1 }
    return writing
  }

  package func closeReading() {
    if reading >= 0 { close(reading) }
    reading = -1
  }

  package func closeWriting() {
    if writing >= 0 { close(writing) }
    writing = -1
  }

  deinit {
    closeReading()
    closeWriting()
  }
}
