import Testing

/// Which entries wait, as section 9 of the format tells it: "Counters".
@Suite struct CountersTests {
  private typealias ID = [UInt8]
  private static func id(_ number: UInt8) -> ID { ID(repeating: number, count: 32) }
  private let desk = id(1)
  private let tablet = id(2)
  private let gone = id(3)
  private let stranger = id(4)
  /// Its person has left it out.
  private let former = id(5)
  /// Two of an editor's; all but the stranger's are the owner's.
  private let bens = id(6)
  private let bensPhone = id(7)
  /// Another editor's, and one of somebody who could write before.
  private let carlas = id(8)
  private let out = id(9)

  /// A head that says these things of devices, by field.
  ///
  /// - Parameter lines: Devices of which it says in `retold` that they had come so far when another one took over their line.
  private func head(
    of device: [UInt8], _ counter: UInt64, saying: [(UInt64, [UInt8], UInt64)] = [],
    retelling lines: [(ID, UInt64, by: ID)] = []
  ) throws -> MemberHead {
    let body = MessageWriter { head in
      for (field, device, counter) in saying {
        head.add(field) { said in
          said.add(1, device)
          said.add(2, number: counter)
        }
      }
      for (device, above, taker) in lines {
        head.add(17) { line in
          line.add(1, device)
          line.add(2, number: above)
          line.add(3, taker)
        }
      }
    }
    return MemberHead(device: device, counter: counter, body: try body.message)
  }

  private func counters(_ heads: MemberHead...) throws -> Counters {
    let (owner, ben, carla, dora) = (Self.id(11), Self.id(12), Self.id(14), Self.id(15))
    let owners = Dictionary(uniqueKeysWithValues: [desk, tablet, gone, former].map { ($0, owner) })
    return try Counters(
      heads,
      of: CertifiedDevices(
        former: [former], writers: [desk, tablet, gone, bens, bensPhone, carlas, out],
        current: [desk, tablet, gone, former, bens, bensPhone, carlas],
        owners: [desk, tablet, gone],
        persons: owners.merging(
          [bens: ben, bensPhone: ben, carlas: carla, out: dora, stranger: Self.id(13)]) { $1 },
        // The desk's machine was the tablet, and that was the one which is gone; the former one was that, too.
        before: [desk: tablet, tablet: gone, former: gone, bens: bensPhone]))
  }

  @Test func aDeviceHasReachedWhatItsHeadHas() throws {
    let counters = try counters(
      head(of: desk, 7, saying: [(3, tablet, 90), (12, tablet, 90)]), head(of: tablet, 4))
    #expect(!counters.holdUp([desk: 7, tablet: 4]))
    #expect(counters.holdUp([desk: 8]))
    // Nobody says more of it than its own head.
    #expect(counters.holdUp([desk: 1, tablet: 5]))
  }

  /// In `cover`, `heard` and `reached`.
  @Test(arguments: [3, 11, 12] as [UInt64])
  func ofOthersItIsWhatHeadsSay(field: UInt64) throws {
    let counters = try counters(
      head(of: desk, 7, saying: [(field, gone, 5), (field, stranger, 5)]))
    #expect(!counters.holdUp([gone: 5]))
    #expect(counters.holdUp([gone: 6]))
    // Whom nobody has certified who could write.
    #expect(counters.holdUp([stranger: 1]))
    #expect(try self.counters(head(of: desk, 7)).holdUp([gone: 1]))
  }

  /// An editor would have his own take the place of what the owner, or another editor, writes.
  @Test(arguments: [3, 11, 12] as [UInt64])
  func ofAnybodyElsesDeviceOnlyOwnersAreBelieved(field: UInt64) throws {
    let said: [(UInt64, ID, UInt64)] = [gone, bensPhone, carlas, out].map { (field, $0, 5) }
    let byBen = try counters(head(of: bens, 7, saying: said))
    #expect(byBen.holdUp([gone: 5]))
    #expect(byBen.holdUp([carlas: 5]))
    #expect(!byBen.holdUp([bensPhone: 5, out: 5]))
    let byOwner = try counters(head(of: desk, 7, saying: said))
    #expect(!byOwner.holdUp([gone: 5, bensPhone: 5, carlas: 5, out: 5]))
  }

  @Test func aDeviceThatWasLeftOutHidesNothing() throws {
    #expect(try !counters(head(of: desk, 7)).holdUp([desk: 7, former: 1 << 61]))
  }

  /// What lines have in common was written, whoever follows which.
  @Test func aDeviceThatWasTakenOverHasReachedWhatItShares() throws {
    let counters = try counters(
      head(of: desk, 7, saying: [(8, gone, 5), (8, tablet, 6)]), head(of: tablet, 4))
    #expect(!counters.holdUp([gone: 5, tablet: 6]))
    #expect(counters.holdUp([gone: 6]))
    #expect(counters.holdUp([tablet: 7]))
    // The tablet was never the desk.
    let byTablet = try self.counters(
      head(of: tablet, 7, saying: [(8, desk, 90)]), head(of: desk, 4))
    #expect(byTablet.holdUp([desk: 5]))
  }

  @Test func nobodyTakesOverWhatSomebodyElseHasWritten() throws {
    let counters = try counters(
      head(of: bens, 7, saying: [(8, tablet, 90), (8, gone, 90), (8, bensPhone, 5)]),
      head(of: tablet, 4))
    #expect(counters.holdUp([tablet: 5]))
    #expect(counters.holdUp([gone: 1]))
    #expect(!counters.holdUp([bensPhone: 5]))
  }

  /// The head of whoever took them over is gone: `retold` of owners' heads says so.
  @Test func aLineIsRetoldByOwners() throws {
    let counters = try counters(
      head(
        of: desk, 7,
        retelling: [(gone, 5, by: former), (tablet, 6, by: desk), (bens, 90, by: desk)]),
      head(of: tablet, 4), head(of: bens, 3))
    #expect(!counters.holdUp([gone: 5, tablet: 6, bens: 3]))
    #expect(counters.holdUp([gone: 6]))
    #expect(counters.holdUp([tablet: 7]))
    // Only who was that device before has taken over its line.
    #expect(counters.holdUp([bens: 4]))
    let byBen = try self.counters(head(of: bens, 7, retelling: [(gone, 5, by: former)]))
    #expect(byBen.holdUp([gone: 1]))
  }

  // MARK: The frozen vaults

  private static func readers(_ name: String, _ words: String) throws -> [MemberReader] {
    let vault = try FrozenVault(name)
    let person = try vault.person(words)
    return try vault.names(in: "members").compactMap { member in
      try MemberReader(member, of: vault, as: person)
    }
  }

  @Test(arguments: [("2", "words"), ("2-shared", "words.anna"), ("2-shared", "words.ben")])
  func nothingOfAFrozenVaultWaits(name: String, words: String) throws {
    let readers = try Self.readers(name, words)
    #expect(!readers.isEmpty)
    for reader in readers {
      for head in reader.heads {
        let entries = try reader.entries(of: head).values
        #expect(!entries.isEmpty)
        #expect(entries.allSatisfy { !reader.counters.holdUp($0.version) })
      }
    }
  }

  /// Ben was taken out of a member in which he had written, so no head of his counts there: that his counters were reached
  /// says Anna's head alone.
  @Test func withoutReachedWhatBenWroteWouldWait() throws {
    var waiting = 0
    for reader in try Self.readers("2-shared", "words.anna") {
      var versions: [[[UInt8]: UInt64]] = []
      for head in reader.heads { versions += try reader.entries(of: head).values.map(\.version) }
      let silent = try reader.access.counters(
        reader.heads.map { head in
          MemberHead(
            device: head.device, counter: head.counter, body: head.body.without([12]))
        })
      let said = try reader.heads.flatMap { try $0.body.messages(12).map { try $0.bytes(1) } }
      for version in versions where silent.holdUp(version) {
        waiting += 1
        #expect(said.contains { version[$0] != nil })
      }
    }
    #expect(waiting > 0)
  }
}
