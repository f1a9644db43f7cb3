import VaultModel

/// How many versions of a record stay that nobody but this device has seen: of each interval the last one, and the older
/// they are the longer the intervals.
package struct KeepPolicy: Hashable, Sendable {
  /// What holds for versions up to an age.
  package struct Tier: Hashable, Sendable {
    /// In milliseconds.
    package var interval: UInt64
    /// In milliseconds; nil for the last tier, which has no end.
    package var maximumAge: UInt64?
  }

  /// The youngest first; none when everything stays.
  package let tiers: [Tier]

  package static let everything = KeepPolicy(tiers: [])
  /// One a minute for an hour, one an hour for a day, then one a day.
  package static let standard = KeepPolicy(tiers: [
    Tier(interval: minute, maximumAge: hour), Tier(interval: hour, maximumAge: day),
    Tier(interval: day, maximumAge: nil),
  ])

  private static let minute: UInt64 = 60_000
  private static let hour = 60 * minute
  private static let day = 24 * hour

  private init(tiers: [Tier]) { self.tiers = tiers }

  /// Whether a version stays that another one replaced.
  ///
  /// - Parameters:
  ///   - next: The time of the version that replaced it, whether that stays or not.
  ///   - now: In milliseconds since 1970.
  package func keeps(_ version: HybridTime, replacedAt next: HybridTime, now: UInt64) -> Bool {
    let time = version.milliseconds
    let age = now > time ? now - time : 0
    guard let tier = tiers.first(where: { age <= $0.maximumAge ?? .max }) else { return true }
    return time / tier.interval != next.milliseconds / tier.interval
  }

  /// The age from which on time alone takes no further versions away; nil if it never does.
  package var finalAge: UInt64? { tiers.dropLast().last?.maximumAge }
}

// MARK: - As text

extension KeepPolicy: LosslessStringConvertible {
  /// `1m:1h,1h:1d,1d` is one a minute for an hour, one an hour for a day, then one a day; `all` is everything.
  ///
  /// Nil for what is no such text: each interval divides the next one, each age is greater than the one before, and only
  /// the last tier is without one.
  package init?(_ text: String) {
    if text == "all" {
      self = .everything
      return
    }
    var tiers: [Tier] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let times = part.split(separator: ":", omittingEmptySubsequences: false)
      guard let interval = times.first.flatMap(Self.milliseconds), times.count <= 2 else {
        return nil
      }
      var tier = Tier(interval: interval, maximumAge: nil)
      if times.count == 2 {
        guard let age = Self.milliseconds(times[1]) else { return nil }
        tier.maximumAge = age
      }
      if let last = tiers.last {
        guard let age = last.maximumAge, tier.maximumAge ?? .max > age,
          interval > last.interval, interval % last.interval == 0
        else { return nil }
      }
      tiers.append(tier)
    }
    guard tiers.last?.maximumAge == nil else { return nil }
    self.init(tiers: tiers)
  }

  package var description: String {
    if tiers.isEmpty { return "all" }
    return tiers.map { tier in
      Self.text(tier.interval) + (tier.maximumAge.map { ":" + Self.text($0) } ?? "")
    }.joined(separator: ",")
  }

  private static let units: [(name: Character, milliseconds: UInt64)] = [
    ("w", 7 * day), ("d", day), ("h", hour), ("m", minute), ("s", 1000),
  ]

  private static func milliseconds(_ text: Substring) -> UInt64? {
    guard let unit = units.first(where: { $0.name == text.last }),
      text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }),
      let count = UInt64(text.dropLast()), count > 0, count <= 1_000_000
    else { return nil }
    return count * unit.milliseconds
  }

  private static func text(_ milliseconds: UInt64) -> String {
    for unit in units where milliseconds % unit.milliseconds == 0 {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    preconditionFailure("ages and intervals are whole seconds")
  }
}
