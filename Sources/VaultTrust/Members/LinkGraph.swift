import VaultModel

/// A member's placed links in their order: Docs/Format.md, section 16, "Order".
///
/// A link is placed if all that it follows is here. The order is of their depth, then of their id:
/// nothing that is added turns round two that were there.
struct LinkGraph: Sendable {
  let ids: [StatementID]
  let links: [Link]
  private let follows: [[Int]]
  private let children: [[Int]]
  private let numbers: [StatementID: Int]
  /// Links whose past is not here, with one that is missing or waits itself.
  let waiting: [StatementID: StatementID]

  init(_ all: [StatementID: Link]) {
    let all = Array(all)
    let depths = Self.depths(all)
    let order = all.indices.filter { depths[$0] != nil }
      .sorted { (depths[$0] ?? 0, all[$0].key) < (depths[$1] ?? 0, all[$1].key) }
    ids = order.map { all[$0].key }
    links = order.map { all[$0].value }
    var numbers: [StatementID: Int] = Dictionary(minimumCapacity: order.count)
    for (number, id) in ids.enumerated() { numbers[id] = number }
    self.numbers = numbers
    follows = links.map { $0.follows.compactMap { numbers[$0] } }
    var children: [[Int]] = Array(repeating: [], count: order.count)
    for (number, followed) in follows.enumerated() {
      for before in followed { children[before].append(number) }
    }
    self.children = children
    var waiting: [StatementID: StatementID] = [:]
    for (number, (id, link)) in all.enumerated() where depths[number] == nil {
      waiting[id] = link.follows.first { numbers[$0] == nil }
    }
    self.waiting = waiting
  }

  var count: Int { ids.count }

  var none: LinkSet { LinkSet(count: count) }

  /// The link's place in the order; nil if it is not here, or waits.
  func number(of id: StatementID) -> Int? { numbers[id] }

  /// No link's past yet, for `past(of:known:)`.
  var noPasts: [LinkSet?] { Array(repeating: nil, count: count) }

  /// The links that come before this one; `known` has them from then on.
  ///
  /// What comes before a link whose past is known is not walked again.
  func past(of link: Int, known: inout [LinkSet?]) -> LinkSet {
    if let past = known[link] { return past }
    var found = none
    var open = follows[link]
    while let before = open.popLast() {
      guard found.insert(before) else { continue }
      if let past = known[before] {
        found.formUnion(past)
      } else {
        open += follows[before]
      }
    }
    known[link] = found
    return found
  }

  /// The links that come after this one.
  func future(of link: Int) -> LinkSet { reach(from: children[link], children) }

  /// The links that come after one of these.
  func future(of links: [Int]) -> LinkSet {
    reach(from: links.flatMap { children[$0] }, children)
  }

  /// These links and all that come before one of them.
  func closure(of links: [Int]) -> LinkSet { reach(from: links, follows) }

  /// Those of the links that come before none of the others.
  func lasts(of links: [Int]) -> [Int] {
    let earlier = reach(from: links.flatMap { follows[$0] }, follows)
    return links.filter { !earlier.contains($0) }
  }

  private func reach(from start: [Int], _ edges: [[Int]]) -> LinkSet {
    var found = none
    var open = start
    while let link = open.popLast() {
      if found.insert(link) { open += edges[link] }
    }
    return found
  }

  /// The depth of every placed link; nil for one that waits.
  private static func depths(_ all: [(key: StatementID, value: Link)]) -> [Int?] {
    var numbers: [StatementID: Int] = Dictionary(minimumCapacity: all.count)
    for (number, link) in all.enumerated() { numbers[link.key] = number }
    var followers: [[Int]] = Array(repeating: [], count: all.count)
    for (number, link) in all.enumerated() {
      for followed in link.value.follows.compactMap({ numbers[$0] }) {
        followers[followed].append(number)
      }
    }
    var depths = Array(repeating: 0, count: all.count)
    var missing = all.map { $0.value.follows.count }
    var ready = all.indices.filter { missing[$0] == 0 }
    while let number = ready.popLast() {
      for next in followers[number] {
        depths[next] = max(depths[next], depths[number] + 1)
        missing[next] -= 1
        if missing[next] == 0 { ready.append(next) }
      }
    }
    return all.indices.map { missing[$0] == 0 ? depths[$0] : nil }
  }
}
