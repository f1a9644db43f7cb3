import Vault
import VaultModel
import VaultObjects

extension ObjectStore {
  /// The revisions that heads name in their segments, as far as those can be read here: where such a head stands, they are there,
  /// whoever has written them. One that cannot be read is told where it is read to be used.
  func revisions(namedBy heads: [OpenedHead]) -> Set<ContentDigest> {
    Set(
      Set(heads.flatMap(\.segments)).flatMap { name -> [ContentDigest] in
        guard let bytes = try? content(name, kind: .segment),
          let segment = try? Segment(decoding: bytes)
        else { return [] }
        return segment.entries.map(\.revision)
      })
  }
}
