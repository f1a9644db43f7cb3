import Glibc
import Vault
import VaultErrors

extension Texts {
  /// What went wrong, in the page's words; in those of commands where it has none.
  func message(of error: any Error, _ gate: any VaultGate) -> String {
    (error as? VaultError).flatMap(failure) ?? gate.message(of: error)
  }

  /// What went wrong, and what to do about it on the page; nil for what only a command can meet.
  func failure(_ error: VaultError) -> String? {
    switch error {
    case .thisDeviceRemoved(let time): self("failure.deviceRemoved", self.time(milliseconds: time))
    case .passwordIsNotEnough: self("failure.password")
    case .damagedSlot(let path, _): self("failure.slot", path)
    case .damaged(let path, _): self("failure.damaged", path)
    case .missing(let path): self("failure.missing", path)
    case .away: self("failure.away")
    case .gone(let path, _): self("failure.gone", path)
    case .rolledBack: self("failure.rolledBack")
    case .forked, .branched: self("failure.twoWriters")
    case .keysDivided: self("failure.keysDivided")
    case .keysAwaited: self("failure.keysAwaited")
    case .epochSpent: self("failure.epochSpent")
    case .noSpace: self("failure.noSpace")
    case .noRoomForNewKeys(_, let count): self("failure.noRoomForNewKeys", byteCount(count))
    case .readOnly: self("failure.readOnly")
    case .permission(let path): self("failure.permission", path)
    case .noAccess: self("failure.noAccess")
    case .viewersOnlyRead: self("record.viewer")
    case .ownersOnly: self("failure.ownersOnly")
    case .lastOwner: self("failure.lastOwner")
    case .notNeeded: self("failure.notNeeded")
    case .moreSenior: self("failure.moreSenior")
    case .accessEnded: self("failure.accessEnded")
    case .notFound: self("error.notFound")
    case .alreadyExists(let what): self("failure.exists", what)
    case .changedMeanwhile: self("failure.changed")
    case .limit(_, _, let limit): self("failure.limit", String(limit))
    case .io(let path, EIO): self("failure.disk", path)
    case .io(let path, let errno):
      self("failure.system", path, String(cString: strerror(errno)))
    case .notAVault, .otherVault, .badInvitation, .folderNotEmpty, .unsupported,
      .signedByRemovedDevice, .replacedWords, .otherWords, .noDeviceHere, .wrongPassword,
      .lastSlot, .wrongWords, .crypto:
      nil
    }
  }
}
