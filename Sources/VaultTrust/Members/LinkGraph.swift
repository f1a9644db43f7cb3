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
    let depths = Self.depths(all)
    let order = depths.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    var numbers: [StatementID: Int] = [:]
    for (number, id) in order.enumerated() { numbers[id] = number }
    let links = order.compactMap { all[$0] }
    let follows = links.map { $0.follows.compactMap { numbers[$0] } }
    var children: [[Int]] = Array(repeating: [], count: order.count)
    for (number, followed) in follows.enumerated() {
      for before in followed { children[before].append(number) }
    }
    ids = order
    self.links = links
    self.follows = follows
    self.children = children
    self.numbers = numbers
    var waiting: [StatementID: StatementID] = [:]
    for (id, link) in all where depths[id] == nil {
      waiting[id] = link.follows.first { depths[$0] == nil }
    }
    self.waiting = waiting
  }

  var count: Int { ids.count }

  var none: LinkSet { LinkSet(count: count) }

  /// The link's place in the order; nil if it is not here, or waits.
  func number(of id: StatementID) -> Int? { numbers[id] }

  /// The links that come before this one.
  func past(of link: Int) -> LinkSet { reach(from: follows[link], follows) }

  /// The links that come after this one.
  func future(of link: Int) -> LinkSet { reach(from: children[link], children) }

  /// These links and all that come before one of them.
  func closure(of links: [Int]) -> LinkSet { reach(from: links, follows) }

  /// Those of the links that come after none of the others.
  func firsts(of links: [Int]) -> [Int] {
    let later = reach(from: links.flatMap { children[$0] }, children)
    return links.filter { !later.contains($0) }
  }

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

  /// The depth of every placed link; one that waits has none.
  private static func depths(_ all: [StatementID: Link]) -> [StatementID: Int] {
    var depths: [StatementID: Int] = [:]
    var missing: [StatementID: Int] = [:]
    var followers: [StatementID: [StatementID]] = [:]
    var ready: [StatementID] = []
    for (id, link) in all {
      missing[id] = link.follows.count
      if link.follows.isEmpty { ready.append(id) }
      for followed in link.follows { followers[followed, default: []].append(id) }
    }
    while let id = ready.popLast() {
      let before = all[id]?.follows.compactMap { depths[$0] }.max()
      depths[id] = before.map { $0 + 1 } ?? 0
      for next in followers[id] ?? [] {
        missing[next, default: 1] -= 1
        if missing[next] == 0 { ready.append(next) }
      }
    }
    return depths
  }
}
