/// Under which name a person's machines show a member, so that a new one of theirs does as well.
///
/// Told of members that show under their own title: of several with one title one does, and whoever shares a member chooses
/// its title. Docs/Format.md, "The personal profile".
package struct MemberName: Hashable, WireMessage {
  package var member: MemberID
  /// What the member is called and shows as; nil once another one took that name.
  package var title: FileName?
  /// When a machine of this person told it first, in milliseconds since 1970.
  package var time: UInt64
  package var unknown: UnknownFields

  package init(
    member: MemberID, title: FileName?, time: UInt64, unknown: UnknownFields = .none
  ) {
    self.member = member
    self.title = title
    self.time = time
    self.unknown = unknown
  }

  package static let what: StaticString = "name of a member"
  package static let blank = MemberName(member: .zero, title: nil, time: 0)

  package mutating func visit(_ fields: inout some FieldVisitor) throws(ModelError) {
    try fields.id(1, &member, "member")
    try fields.fileName(2, &title, "title")
    try fields.time(3, &time, "time")
    fields.unknown(&unknown)
  }
}
