import BlobStore
import VaultErrors
import VaultModel

import struct SystemPackage.FilePath

/// Where this machine has shown the vault, so that what other programs keep of it can be found later. Docs/Format.md,
/// "This machine's state".
package struct MountpointMemory: Hashable, Sendable {
  package struct Place: Hashable, Sendable {
    /// The absolute path without links.
    package var path: [UInt8]
    /// The path as it was named, by which other programs may know it: absolute too, and often the same.
    package var name: [UInt8]
    /// Whether nothing is removed by itself when the mount ends.
    package var keepsTraces: Bool

    package init(path: [UInt8], name: [UInt8], keepsTraces: Bool) {
      self.path = path
      self.name = name
      self.keepsTraces = keepsTraces
    }
  }

  /// The oldest ones are forgotten.
  private static let placeLimit = 64
  package static let pathByteLimit = 4096

  /// The one that was mounted last comes last.
  package private(set) var places: [Place] = []
  /// Whether this machine's user was told that other programs keep previews.
  package var hasToldOfPreviews = false

  package init() {}

  /// Notes a mount.
  package mutating func note(_ place: Place) {
    guard place.path.count <= Self.pathByteLimit, place.name.count <= Self.pathByteLimit else {
      return
    }
    places.removeAll { $0.path == place.path && $0.name == place.name }
    places.append(place)
    places.removeFirst(max(0, places.count - Self.placeLimit))
  }

  /// From now on nothing of the mounts at this path is removed by itself, until it is mounted again.
  package mutating func keepTraces(at path: [UInt8]) {
    for index in places.indices where places[index].path == path {
      places[index].keepsTraces = true
    }
  }
}

extension MountpointMemory {
  private static let title = "kinvault mountpoints 1"

  package func encoded() -> [UInt8] {
    var lines = places.map { place in
      "mountpoint \(place.keepsTraces ? "keep" : "clean") \(Hex.encode(place.path)) "
        + Hex.encode(place.name)
    }
    if hasToldOfPreviews { lines.append("told previews") }
    return ChecksummedLines.encode(title: Self.title, lines)
  }

  /// Nil for what is torn, changed or of another version.
  package init?(decoding bytes: [UInt8]) {
    guard let lines = ChecksummedLines(decoding: bytes, title: Self.title) else { return nil }
    for words in lines.words(upTo: 5) {
      if words == ["told", "previews"] {
        hasToldOfPreviews = true
        continue
      }
      guard words.count == 4, words[0] == "mountpoint", ["keep", "clean"].contains(words[1]),
        let path = Hex.decode(String(words[2])), let name = Hex.decode(String(words[3]))
      else { return nil }
      note(Place(path: path, name: name, keepsTraces: words[1] == "keep"))
    }
  }
}

extension StateFolder {
  private static let mountpointsPath: BlobPath = "mountpoints"
  private static let mountpointsLimit = 2 << 20

  /// Those of which this machine has a state; none where there is no such folder.
  package static func vaults(below root: FilePath) throws(VaultError) -> [VaultID] {
    do throws(BlobStoreError) {
      return try DirectoryStore(opening: root).list(.root).compactMap { VaultID(hex: $0.name) }
    } catch .notFound { return [] } catch { throw VaultError(error) }
  }

  /// Empty for a vault that was never mounted here.
  ///
  /// - Throws: `damaged`: then it is not known where it was.
  package func loadMountpoints() throws(VaultError) -> MountpointMemory {
    guard let bytes = try readIfThere(Self.mountpointsPath, limit: Self.mountpointsLimit) else {
      return MountpointMemory()
    }
    guard let memory = MountpointMemory(decoding: bytes) else {
      throw .damaged(path: describe(Self.mountpointsPath), reason: "its checksum is wrong")
    }
    return memory
  }

  /// Changes it as it is now; on disk when this returns. A damaged one is begun anew.
  package func updateMountpoints(
    _ change: (inout MountpointMemory) -> Void
  ) throws(VaultError) {
    try withLock("mountpoints-lock") { () throws(VaultError) in
      let before = try ifWhole(loadMountpoints())
      var memory = before ?? MountpointMemory()
      change(&memory)
      guard memory != before else { return }
      try storing(store.replace(Self.mountpointsPath, memory.encoded(), durably: true))
    }
  }
}
