import Glibc
import Places
import SystemPackage
import Testing

/// inotify(7): file managers and sync programs see what others do.
@Suite struct WatchTests {
  @Test(arguments: Place.all)
  func seesWhatAnotherProcessDoes(place: Place) throws {
    try place.withFolder { folder in
      let watch = try Errno.check(inotify_init1(Int32(IN_CLOEXEC)))
      defer { close(watch) }
      try Errno.check(inotify_add_watch(watch, folder.string, 0xfff))

      try Command(
        [
          "sh", "-c", "echo x >new; echo y >>new; chmod 600 new; mv new moved; mkdir sub; rm moved",
        ],
        in: folder
      ).succeed()

      let seen = try Self.events(of: watch)
      let wanted: [(Int32, String)] = [
        (IN_CREATE, "new"), (IN_MODIFY, "new"), (IN_CLOSE_WRITE, "new"), (IN_ATTRIB, "new"),
        (IN_MOVED_FROM, "new"), (IN_MOVED_TO, "moved"), (IN_CREATE, "sub"), (IN_DELETE, "moved"),
      ]
      for (kind, name) in wanted {
        #expect(
          seen.contains { $0.mask & UInt32(kind) != 0 && $0.name == name },
          "\(name) \(kind) in \(seen)")
      }
    }
  }

  private struct Event {
    let mask: UInt32
    let name: String
  }

  /// What there is to be read, and what comes within a moment after it.
  private static func events(of watch: Int32) throws -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    var ready = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
    while poll(&ready, 1, 300) > 0 {
      let count = try Errno.check(read(watch, &buffer, buffer.count))
      buffer.withUnsafeBytes { bytes in
        var offset = 0
        while offset < count {
          let event = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let start = offset + MemoryLayout<inotify_event>.size
          let name = bytes[start..<start + Int(event.len)].prefix { $0 != 0 }
          events.append(Event(mask: event.mask, name: String(decoding: name, as: UTF8.self)))
          offset = start + Int(event.len)
        }
      }
    }
    return events
  }
}
