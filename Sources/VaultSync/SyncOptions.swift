/// What a sync of one remote is to do.
package struct SyncOptions: Sendable {
  package enum Direction: Hashable, Sendable {
    case both
    case pull
    case push
  }

  package var direction = Direction.both
  /// Looks and plans, and moves nothing; the report lists what would move.
  package var isDryRun = false
  /// Joins also what would delete or conflict more than half of a member.
  package var acceptsMassChange = false
  /// Puts newer registers where the remote went back to older ones. False leaves such a remote as it is.
  package var repairsRemote = true
  /// Looks into every folder of the remote, also where nothing seems to have changed, and sees that no object is
  /// missing there.
  package var looksEverywhere = false
  /// Takes also what people have put there for whom nobody vouches, whatever it weighs.
  package var takesStrangers = false
  /// How much of strangers' files may be here in all before no more is taken.
  package var strangersLimit = CargoQuota.limit
  /// How many requests may be under way at once: a few for a disk, more for a store far away.
  package var threadCount = 4
  /// How long it waits while another process syncs the same remote; nil for not at all.
  package var patience: SyncPatience?

  package init() {}
}
