import MachineState
import Vault
import VaultModel

extension Vault {
  /// What the remotes that this machine knows may have seen of a member, and have shown of it; as if they had seen everything
  /// and shown nothing where nothing is remembered of one of them, or it cannot be read.
  package func seenByRemotes(of member: MemberID) -> SeenElsewhere {
    let own = VaultPath.head(member, device)
    var (counter, brought) = (UInt64(0), [VaultPath: UInt64]())
    do {
      let names = try RemoteRegistry(state: state).names()
      for name in names {
        let memory = try RemoteStateFile(state: state, remote: name).loadIfKept()
        guard let memory else { return SeenElsewhere(counter: .max) }
        counter = max(counter, memory.seen[own]?.state.counter ?? 0)
        for (path, shown) in memory.brought where path.tells(of: member) {
          brought[path] = max(brought[path] ?? 0, shown)
        }
      }
      return SeenElsewhere(counter: counter, brought: names.isEmpty ? nil : brought)
    } catch {
      // Nothing is thinned then; the next sync says what is wrong.
      return SeenElsewhere(counter: .max)
    }
  }
}

extension VaultPath {
  /// Whether it is a head of the member, or a register of a device.
  fileprivate func tells(of member: MemberID) -> Bool {
    switch self {
    case .head(let id, _): id == member
    case .device: true
    default: false
    }
  }
}
