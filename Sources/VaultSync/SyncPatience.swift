/// What a sync does while another process syncs the same remote: a mount in the background, as a rule, which has begun
/// just before a person asked.
package struct SyncPatience: Sendable {
  /// So long it waits for the other one to end.
  let limit: Duration
  /// Called once when it begins to wait.
  let tell: @Sendable () -> Void

  package init(limit: Duration, tell: @escaping @Sendable () -> Void = {}) {
    (self.limit, self.tell) = (limit, tell)
  }
}
