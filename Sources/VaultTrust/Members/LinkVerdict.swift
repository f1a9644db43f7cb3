import VaultModel

/// Whether a link counts, and if it does not, why: what a person is told.
package enum LinkVerdict: Hashable, Sendable {
  case counts
  /// A link that it follows, or the certificate of its device, is not here yet.
  case waits(for: StatementID)
  /// A closing of its person left its device out, and does not list this link among what goes on counting.
  case departed
  /// Its writer does not have the place among the owners that it is written from, or leaves without having one.
  case noPlace
  /// A more senior owner took the place away, by this link, without knowing of the one that is judged.
  case taken(by: StatementID)
  /// Its writer gave the place up, by this link, and it did not know of the one that is judged.
  case givenUp(by: StatementID)
  /// A place was given up twice, and what its writer may do comes of one of the two times. The other one, which is this link, is
  /// taken to count.
  case contested(by: StatementID)
  /// It says that an owner leaves. They stay, since without them the member would have no owner who can share.
  case someoneStays
}

/// Why a tenure of a place is over.
package enum TenureEnd: Hashable, Sendable {
  case handedOver(link: Int, to: PersonID)
  case left(link: Int)

  var link: Int {
    switch self {
    case .handedOver(let link, _), .left(let link): link
    }
  }

  var isLeaving: Bool {
    if case .left = self { true } else { false }
  }
}

/// The time for which one person holds a place.
struct Tenure: Hashable, Sendable {
  static let toldLeavings = 64

  let holder: PersonID
  /// The link with which it begins; nil: the member's root.
  let beginning: Int?
  /// Limits by more senior owners.
  var takings: [Limit] = []
  var end: TenureEnd?
  /// The links that would be its end as well: whoever has the holder's keys can sign another one, beside the first. Of leavings
  /// no more than `toldLeavings`.
  var others: [Int] = []
  /// Those of them of which a person has said that they are not the end.
  var refused: [Int] = []
  /// Whether what counted here before, or a person, tells the end from the others.
  var isRemembered = false

  /// Those of the others of which nothing tells that they are not the end.
  var rivals: [Int] { isRemembered ? [] : others.filter { !refused.contains($0) } }
  var isContested: Bool { !rivals.isEmpty }
  var isHeld: Bool { takings.isEmpty && end == nil }
}

/// A limit that counts.
struct Limit: Hashable, Sendable {
  let link: Int
  /// The seniority of the place behind it; nil: somebody leaves.
  let rank: Int?
  let role: Role?
  let until: UInt64
}

/// A place with its tenures, the last one being now.
struct PlaceHistory: Hashable, Sendable {
  let place: Place
  var tenures: [Tenure]
}

/// What a counting link, or the member's root, gives.
struct Gift: Hashable, Sendable {
  /// Nil: the member's root.
  let link: Int?
  let role: Role
  let until: UInt64
  /// Of ownership, which tenure it began: the number of the place, and of the tenure.
  let tenure: TenureNumber?
}

struct TenureNumber: Hashable, Sendable {
  let place: Int
  let tenure: Int
}
