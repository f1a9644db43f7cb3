import MachineState
import Vault
import VaultModel

extension Vault {
  /// Up to which of this device's heads of a member a remote that this machine knows may have seen; the greatest number
  /// where nothing is remembered of one of them, or it cannot be read.
  package func counterSeenByRemotes(of member: MemberID) -> UInt64 {
    let path = VaultPath.head(member, device)
    do {
      return try RemoteRegistry(state: state).names().reduce(0) { seen, name in
        let memory = try RemoteStateFile(state: state, remote: name).loadIfKept()
        guard let memory else { return .max }
        return max(seen, memory.seen[path]?.state.counter ?? 0)
      }
    } catch {
      // Nothing is thinned then; the next sync says what is wrong.
      return .max
    }
  }
}
