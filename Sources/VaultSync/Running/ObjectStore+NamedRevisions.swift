import Vault
import VaultErrors
import VaultModel
import VaultObjects

extension ObjectStore {
  /// The revisions that heads name in their segments, as far as those can be read here: where such a head stands, they are there,
  /// whoever has written them. One that is not whole is told where it is read to be used.
  ///
  /// - Parameter unread: Called with each failure of the machine to read one, which may be whole.
  func revisions(
    namedBy heads: [OpenedHead], unread: (VaultError) -> Void
  ) -> Set<ContentDigest> {
    var named: Set<ContentDigest> = []
    for name in Set(heads.flatMap(\.segments)) {
      let bytes: [UInt8]
      do { bytes = try content(name, kind: .segment) } catch {
        if error.isOfTheMachine { unread(error) }
        continue
      }
      guard let segment = try? Segment(decoding: bytes) else { continue }
      named.formUnion(segment.entries.map(\.revision))
    }
    return named
  }
}
