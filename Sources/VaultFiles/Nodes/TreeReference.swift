/// Names a node or view where the tree lock is not held. What is in it, only `TreeState` shows.
struct TreeReference<Object: AnyObject>: @unchecked Sendable {
  // Nobody reads or writes the object but by way of the tree's state, which the tree lock protects.
  private let object: Object

  init(_ object: Object) { self.object = object }

  /// Whether both name the same.
  static func == (a: Self, b: Self) -> Bool { a.object === b.object }

  fileprivate func object(in state: borrowing TreeState) -> Object { object }
}

extension TreeState {
  /// The node or view itself.
  subscript<Object>(_ reference: TreeReference<Object>) -> Object { reference.object(in: self) }
}
