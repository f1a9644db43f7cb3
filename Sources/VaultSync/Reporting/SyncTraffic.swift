/// Requests to a remote, and the bytes in them.
package struct SyncTraffic: Hashable, Sendable {
  package var listCount = 0
  package var readCount = 0
  package var readByteCount: UInt64 = 0
  package var sizeCount = 0
  package var putCount = 0
  package var putByteCount: UInt64 = 0
  package var removeCount = 0

  package init() {}

  package var requestCount: Int { listCount + readCount + sizeCount + putCount + removeCount }
}
