import VaultModel

/// A field of a form with which one member is chosen, or none.
struct MemberChoice {
  let members: [(id: MemberID, name: String)]
  let chosen: MemberID?
  /// What it says where none is.
  let none: String

  var html: HTML {
    tag("select", ["id": "member", "name": "member"]) {
      tag("option", ["value": "", "selected": chosen == nil ? "" : nil]) { none }
      for member in members {
        tag(
          "option", ["value": member.id.hex, "selected": chosen == member.id ? "" : nil]
        ) { member.name }
      }
    }
  }
}
