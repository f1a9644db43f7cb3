import Notes
import Vault
import VaultModel

/// Asks where a record is to stand: in which folder of which member.
struct MovePage {
  /// A place that is offered.
  struct Place: Hashable {
    let member: MemberID
    /// Nil for the folder of the record's type, which is not there yet.
    let parent: RecordID?
    let name: String

    var value: String { "\(member.hex).\(parent?.hex ?? "")" }
  }

  let frame: PageFrame
  let shown: ShownRecord
  var problem: String?
  private let groups: [(member: String, places: [Place])]

  private var texts: Texts { frame.texts }

  init(_ shown: ShownRecord, in vault: Vault, _ frame: PageFrame) {
    (self.frame, self.shown) = (frame, shown)
    let names = vault.shownNames
    groups = vault.members.filter(\.mayWrite).map { member in
      (
        (names[member.id] ?? member.name).string,
        Self.places(in: member, for: shown, frame.texts)
      )
    }
  }

  /// The folders at the top of a member that only hold others, but that of versions that lost, and the top itself; the one for
  /// the record's type is offered where it is not there yet.
  private static func places(
    in member: Member, for shown: ShownRecord, _ texts: Texts
  ) -> [Place] {
    let folders = member.children(of: .root).filter {
      !$0.isOfInterest && $0.record != shown.entry.record && $0.record != member.conflictFolder
    }.sortedNaturally(by: \.title)
    var places = folders.map {
      Place(member: member.id, parent: $0.record, name: $0.title.string)
    }
    if let usual = RecordType(parsing: shown.entry.type)?.folder,
      !places.contains(where: { $0.name == usual })
    {
      places.insert(Place(member: member.id, parent: nil, name: usual), at: 0)
    }
    places.append(Place(member: member.id, parent: .root, name: texts("move.top")))
    return places
  }

  /// The place that a form names, if it is one of those that are offered.
  func place(_ value: String?) -> Place? {
    groups.lazy.flatMap(\.places).first { $0.value == value }
  }

  private var isHere: (Place) -> Bool {
    { $0.member == shown.member.id && $0.parent == shown.entry.parent }
  }

  var document: String {
    frame.document(
      .group([
        tag("h1") { texts("move.title") },
        tag("p") { named(shown.title) },
        alert(problem),
        frame.post("\(shown.address.path)/move", ["class": "edit"]) {
          tag("input", ["type": "hidden", "name": "base", "value": shown.entry.revision.hex])
          tag("label", ["for": "place"]) { texts("move.where") }
          tag("select", ["id": "place", "name": "place"]) {
            for group in groups {
              tag("optgroup", ["label": group.member]) {
                for place in group.places {
                  tag("option", ["value": place.value, "selected": isHere(place) ? "" : nil]) {
                    "\(group.member): \(place.name)"
                  }
                }
              }
            }
          }
          tag("p", ["class": "quiet"]) { texts("move.about") }
          tag("p", ["class": "actions"]) {
            tag("button", ["type": "submit"]) { texts("move.go") }
            tag("a", ["href": shown.address.path]) { texts("edit.cancel") }
          }
        },
      ]))
  }
}
