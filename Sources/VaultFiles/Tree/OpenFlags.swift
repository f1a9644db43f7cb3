/// How a file is opened: the part of `open(2)`'s flags that the tree acts on.
package struct OpenFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let read = OpenFlags(rawValue: 1)
  package static let write = OpenFlags(rawValue: 2)
  package static let truncate = OpenFlags(rawValue: 4)
  /// `create` fails if the name is taken.
  package static let exclusive = OpenFlags(rawValue: 8)
}

/// How a write was asked for.
package enum WriteKind: Hashable, Sendable {
  /// By a program, for the offset.
  case atOffset
  /// By a program, for the end of the file, wherever that is by now: the offset is where the end was taken to be.
  case atEnd
  /// It is what a program has changed in a mapping. Nobody waits who could be told of what failed before.
  case ofMapping
}

/// What `rename` does about the target.
package enum RenameMode: Hashable, Sendable {
  /// Replaces a file, or an empty directory by a directory.
  case replace
  /// Fails if the target exists.
  case noReplace
  /// Swaps the two.
  case exchange
}

/// What `fallocate` does with a range.
package enum AllocationMode: Hashable, Sendable {
  /// Makes the file at least as long as the range's end, unless `keepsSize`.
  case allocate(keepsSize: Bool)
  /// Makes the range a hole; the size stays.
  case punchHole
  /// Makes the range read as zeros.
  case zeroRange(keepsSize: Bool)
}

/// What `lseek` looks for.
package enum SeekTarget: Hashable, Sendable {
  case data
  case hole
}

/// What `setxattr` expects to find.
package enum XattrMode: Hashable, Sendable {
  case createOrReplace
  /// Fails if the attribute exists.
  case create
  /// Fails if it does not.
  case replace
}
