import VaultModel

/// What counted here before, and decides where files alone cannot: Docs/Format.md, "Closings".
///
/// It only grows, but for ends of which a person says that another one is true. Its statements themselves are kept with it,
/// and judged together with the folder.
package struct TrustMemory: Hashable, Sendable {
  /// Closings that counted.
  package var closings: Set<StatementID>
  /// Links that ended a tenure of a place: hand overs and leavings.
  package var ends: Set<StatementID>
  /// Links that would end one as well, and of which a person has said that another one does.
  package var refusedEnds: Set<StatementID>

  package init(
    closings: Set<StatementID> = [], ends: Set<StatementID> = [],
    refusedEnds: Set<StatementID> = []
  ) {
    self.closings = closings
    self.ends = ends
    self.refusedEnds = refusedEnds
  }

  package static let empty = TrustMemory()
}
