/// A walk over all that some objects name: a value that says what comes next, and is told what that names.
///
/// It reads nothing, and knows neither what was met before nor what is missing: whoever runs it says into which objects it
/// goes. What several of them name it comes to several times.
package struct GraphWalk: Sendable {
  package enum Step: Hashable, Sendable {
    /// Comes to an object. To go into it, call `descend`.
    case enter(ObjectReference)
    /// Has been everywhere below an object that it went into.
    case leave(ObjectReference)
  }

  /// What is left to do, the next at the end.
  private var steps: [Step]
  private var entered: ObjectReference?

  package init(from references: [ObjectReference]) {
    steps = references.reversed().map { .enter($0) }
  }

  /// The next step; nil at the end.
  package mutating func next() -> Step? {
    let step = steps.popLast()
    if case .enter(let reference)? = step { entered = reference } else { entered = nil }
    return step
  }

  /// Goes into the object that it just came to: first these, in their order, then what was to come after it.
  package mutating func descend(into references: [ObjectReference]) {
    guard let entered else { preconditionFailure("it has not come to an object") }
    self.entered = nil
    steps.append(.leave(entered))
    steps += references.reversed().map { .enter($0) }
  }
}
