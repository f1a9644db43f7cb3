import BlobStore
import TestSupport
import Testing

@testable import VaultSync

/// Two devices fill a remote at once, and one of them carries a head of the other one that is not its newest any more.
@Suite struct CarriedHeadTests {
  /// Has these files as soon as an object is put there.
  private final class SharedStore: WrappingStore {
    let inner: any BlobStore
    private let files: [BlobPath: [UInt8]]

    init(_ inner: any BlobStore, _ files: [BlobPath: [UInt8]]) {
      (self.inner, self.files) = (inner, files)
    }

    func put(
      _ path: BlobPath, _ bytes: UnsafeRawBufferPointer, _ condition: PutCondition
    ) throws(BlobStoreError) {
      try inner.put(path, bytes, condition)
      guard path.string.contains("/objects/") else { return }
      for (path, bytes) in files { try inner.put(path, bytes) }
    }
  }

  @Test func aHeadThatItsDeviceHasPutThereMeanwhileStays() throws {
    let (usb, nas, filled) = (MemoryStore(), MemoryStore(), MemoryStore())
    let (family, note) = try Family.met(at: usb)
    let (desk, laptop) = (family[0], family[1])
    try laptop.edit(note, "newer")
    try laptop.sync(filled, as: "nas")
    let blobs = filled.blobs
    let newer = blobs.filter { path, bytes in
      path.string.contains("/heads/") && usb.blobs[path] != bytes
    }
    #expect(newer.count == 1)
    try desk.sync(SharedStore(nas, newer), as: "nas")
    #expect(nas.blobs.filter { newer[$0.key] != nil } == newer)
    // What the desk carries is there all the same.
    #expect(nas.blobs.keys.count { $0.string.contains("/heads/") } > 1)
  }
}
