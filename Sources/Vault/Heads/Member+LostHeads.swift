import BlobStore
import MachineState
import Threads
import VaultErrors
import VaultModel

extension Vault {
  /// Whether records may not show for what was found wrong. A head of somebody who may not write brings none: anybody who can
  /// write to the folder can put one there.
  package func mayHideRecords(_ problem: Problem) -> Bool {
    guard problem.mayHideRecords else { return false }
    guard case .head(let id, let device)? = VaultPath(parsing: problem.path),
      let member = member(id)
    else { return true }
    return member.witnesses.isOfWriter(device)
  }
}

/// A head that this machine has seen, of a device that counts and may write, whose file is not in the folder any more: no program
/// of ours removes one.
enum LostHead {
  /// Another device has read it, or a newer one of its device, of those whose word proves that.
  case read
  /// What it alone had brought does not show. Nor does it where an editor says that they have read somebody else's: they could
  /// leave out what that one wrote, and who takes the file away with it would have it collected.
  case missed
}

/// Heads that were here and are gone: but for what this machine remembers nothing says that anything is missing.
extension Member {
  /// What is told of this member's heads that are lost. It is no damage where others that are followed have what they bring.
  func lostHeads() throws(VaultError) -> [Problem] {
    let marks = try context.state.loadWatermarks().marks
    return try heads.withLock { (heads) throws(VaultError) in
      var problems: [Problem] = []
      for mark in marks {
        guard let lost = try lostHead(mark, heads) else { continue }
        problems.append(
          Problem(
            .missing, lost == .read ? .warning : .damage, path: mark.path.string,
            reason: "it is not there any more, though this machine has seen it: "
              + (lost == .read
                ? "other devices have what its device has written"
                : "what its device has written last does not show"),
            member: name.string))
      }
      return problems
    }
  }

  /// What became of the head of this member that was seen; nil where it is not lost, and for what is no such head.
  func lostHead(_ mark: Watermark, _ heads: HeadsState) throws(VaultError) -> LostHead? {
    let witnesses = self.witnesses
    guard case .head(id, let device) = mark.path, mark.counter > 0, witnesses.isOfWriter(device),
      heads.retelling(of: device, HeadMark(mark), by: witnesses) == nil,
      try storing(context.store.size(of: BlobPath(mark.path.string))) == nil
    else { return nil }
    if device == context.device.id { return .missed }
    let isRead = heads.loaded.values.contains { other in
      other.device != device && witnesses.proves(other.device, of: device)
        && other.head.takesOver(device, upTo: mark.counter)
    }
    return isRead ? .read : .missed
  }
}
