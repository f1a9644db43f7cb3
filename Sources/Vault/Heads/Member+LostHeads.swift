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
    return member.devicesOfWriters.contains(device)
  }
}

/// Heads that were here and are gone: but for what this machine remembers nothing says that anything is missing.
extension Member {
  /// What is told of heads that this machine has seen, whose devices count and may write, and whose files are not in the folder
  /// any more. It is no damage where other heads that are followed have what they bring.
  func lostHeads() throws(VaultError) -> [Problem] {
    let writers = devicesOfWriters
    var problems: [Problem] = []
    for mark in try context.state.loadWatermarks().marks {
      guard case .head(id, let device) = mark.path, mark.counter > 0, writers.contains(device),
        !isRetold(device, counter: mark.counter, hash: mark.hash),
        try storing(context.store.size(of: BlobPath(mark.path.string))) == nil
      else { continue }
      let isRead = device != context.device.id && isReadByOthers(device, upTo: mark.counter)
      problems.append(
        Problem(
          .missing, isRead ? .warning : .damage, path: mark.path.string,
          reason: "it is not there any more, though this machine has seen it: "
            + (isRead
              ? "other devices have what its device has written"
              : "what its device has written last does not show"),
          member: name.string))
    }
    return problems
  }

  fileprivate var devicesOfWriters: Set<DeviceID> {
    let (links, now) = (register.links, context.clock.milliseconds())
    let writers = context.people.persons.values.filter { person in
      links.role(of: person.id, now: now)?.mayWrite ?? false
    }
    return Set(writers.flatMap(\.devices.keys))
  }

  /// Whether another device whose head is followed has read this one's up to there, or taken it over.
  private func isReadByOthers(_ device: DeviceID, upTo counter: UInt64) -> Bool {
    heads.withLock { heads in
      heads.loaded.values.contains {
        $0.device != device && $0.head.takesOver(device, upTo: counter)
      }
    }
  }
}
