extension VaultError {
  /// Whether it is the matter of one member, so that everything else may go on. What concerns the machine is not: a full
  /// disk, one that does not answer, a vault that may only be read, keys that are divided.
  package var concernsOneMember: Bool {
    switch self {
    case .damaged, .missing, .away, .gone, .rolledBack, .forked, .branched, .epochSpent,
      .noAccess, .viewersOnlyRead, .ownersOnly, .accessEnded, .signedByRemovedDevice, .limit,
      .unsupported, .noRoomForNewKeys, .keysAwaited:
      true
    default: false
    }
  }
}
