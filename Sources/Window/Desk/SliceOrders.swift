import Pictures
import Rendering
import Threads
import Vault
import VaultErrors
import VaultModel

/// In which order the DICOM files of a record are looked at: by series, and by the number that each has in its own. Safe to use
/// from any thread.
final class SliceOrders: Sendable {
  /// No header is read for it where a record has more files. Each that was not read yet takes 10 to 20 ms of a processor, once.
  static let fileLimit = 600
  /// Nobody waits longer for it: what is read by then is kept, and the next look goes on from there.
  private static let patience = Duration.seconds(5)
  /// So many orders are kept, of the records that were looked at last.
  private static let keptLimit = 8

  private let known = Guarded<[(revision: ContentDigest, slices: [Item])]>([])

  /// Those of the files that have a picture, in their order.
  ///
  /// - Parameter files: Those of the record that are or may be DICOM.
  /// - Returns: Nil where there are too many, not all of them are here, or reading them takes too long, so that only their names
  ///   say how they follow.
  /// - Throws: What reading throws.
  func order(
    of files: [Item], in shown: ShownRecord, by pictures: Pictures
  ) throws(VaultError) -> [Item]? {
    let revision = shown.entry.revision
    let kept = known.withLock { $0.first { $0.revision == revision }?.slices }
    if let kept { return kept }
    guard files.count <= Self.fileLimit else { return nil }
    let member = shown.member
    let end = ContinuousClock.now + Self.patience
    let found = try inParallel(files) {
      (file: Item) throws(VaultError) -> Pictures.Found<DICOMHeader> in
      guard ContinuousClock.now < end else { return .unavailable }
      return try pictures.header(ofDICOM: file, of: member)
    }
    var places: [(place: Place, file: Item)] = []
    for (file, found) in zip(files, found) {
      switch found {
      case .here(let header) where header.pixels != nil:
        places.append((Place(header, file.name), file))
      case .here, .nothing: continue
      case .lacking, .unavailable: return nil
      }
    }
    let slices = places.sorted { $0.place < $1.place }.map(\.file)
    known.withLock { known in
      if known.count >= Self.keptLimit { known.removeFirst() }
      known.append((revision, slices))
    }
    return slices
  }

  /// What has no number comes after what has one.
  struct Place: Comparable {
    private let seriesNumber: Int
    private let seriesUID: String
    private let instanceNumber: Int
    private let name: NaturalName

    init(_ header: DICOMHeader, _ name: FileName) {
      seriesNumber = header.seriesNumber ?? .max
      seriesUID = header.seriesUID
      instanceNumber = header.instanceNumber ?? .max
      self.name = NaturalName(name)
    }

    static func < (first: Place, second: Place) -> Bool {
      (first.seriesNumber, first.seriesUID, first.instanceNumber, first.name)
        < (second.seriesNumber, second.seriesUID, second.instanceNumber, second.name)
    }
  }
}
