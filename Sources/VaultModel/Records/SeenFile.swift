/// What somebody saw under a name before they changed it: by this a commit tells whether others have made something else of
/// the file since.
///
/// The time alone does not say so. Two devices that each change a file after the same revision, one whose clock was ahead,
/// write at the same time.
package struct SeenFile: Hashable, Sendable {
  /// When the file had last changed; zero where there was none.
  package let changed: HybridTime
  package let content: Item.Content

  /// There was no file.
  package static let nothing = SeenFile(changed: .zero, content: .none)

  package init(changed: HybridTime, content: Item.Content) {
    (self.changed, self.content) = (changed, content)
  }

  package init(_ item: Item) { self.init(changed: item.changed, content: item.content) }

  /// Whether an item still is what was seen.
  package func isStill(_ item: Item) -> Bool { self == SeenFile(item) }
}
