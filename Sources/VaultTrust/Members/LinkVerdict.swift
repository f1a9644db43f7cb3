import VaultModel

/// Whether a link counts, and if it does not, why: what a person is told.
package enum LinkVerdict: Hashable, Sendable {
  case counts
  /// A link that it follows, or the certificate of its device, is not here yet.
  case waits(for: StatementID)
  /// Its device was left out by its person's words, which do not list it.
  case departed
  /// Its writer has no such place among the owners, or nothing to leave.
  case noPlace
  /// Someone more senior took the place, not knowing of this link.
  case taken(by: StatementID)
  /// Its writer gave the place up, not knowing of this link.
  case givenUp(by: StatementID)
  /// Its writer has the place, or had it given, by another end of a contested place than this one, which was taken to count.
  case contested(by: StatementID)
  /// The leaving of someone who stays, as nobody else would.
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

/// A time that one person holds a place.
struct Tenure: Hashable, Sendable {
  let holder: PersonID
  /// The link with which it begins; nil: the member's root.
  let beginning: Int?
  /// Limits by more senior owners.
  var takings: [Limit] = []
  var end: TenureEnd?
  /// The links that would be its end as well: whoever has the holder's keys can sign another one, beside the first.
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
