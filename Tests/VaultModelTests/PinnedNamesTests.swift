import Fuzzing
import Testing
import VaultModel

@Suite struct PinnedNamesTests {
  private let first: MemberID
  private let second: MemberID
  private let third: MemberID
  private let emma: FileName

  init() throws {
    var random = SeededRandom(seed: 11)
    let ids: [MemberID] = [random.id(), random.id(), random.id()].sorted()
    (first, second, third) = (ids[0], ids[1], ids[2])
    emma = try fileName("Emma")
  }

  private func suffixed(_ id: MemberID) -> FileName { emma.appending(" (\(id.shortHex))") }

  @Test func whoWasThereKeepsTheNameFromLowerIDs() {
    var pins = PinnedNames()
    #expect(pins.names(of: [second: emma], own: []) == [second: emma])
    let names = pins.names(of: [first: emma, second: emma, third: emma], own: [])
    #expect(names == [first: suffixed(first), second: emma, third: suffixed(third)])
    #expect(Set(names.values).count == 3)
  }

  @Test func onANewMachineOnesOwnComesFirst() {
    var pins = PinnedNames()
    let names = pins.names(of: [first: emma, second: emma], own: [second])
    #expect(names == [first: suffixed(first), second: emma])
  }

  @Test func onANewMachineThoseComeFirstThatWereToldEarliest() {
    var pins = PinnedNames()
    let all = [first: emma, second: emma, third: emma]
    let names = pins.names(of: all, own: [second], told: [second: 9, third: 8])
    #expect(names == [first: suffixed(first), second: suffixed(second), third: emma])
    #expect(pins.titles == [third: emma])
  }

  @Test func aNameIsNotTakenFromOneThatIsAway() {
    var pins = PinnedNames()
    _ = pins.names(of: [second: emma], own: [])
    #expect(pins.names(of: [first: emma], own: []) == [first: suffixed(first)])
    #expect(pins.names(of: [first: emma, second: emma], own: [])[second] == emma)
  }

  @Test func aNameWithASuffixIsKeptToo() throws {
    var pins = PinnedNames()
    _ = pins.names(of: [third: try fileName("Emma (\(first.shortHex))")], own: [])
    _ = pins.names(of: [second: emma], own: [])
    let names = pins.names(of: [first: emma, second: emma], own: [])
    #expect(names[first] == emma.appending(" (\(first.hex))"))
    // The one that has the name is called otherwise; the newcomer stays what it is.
    let later = pins.names(of: [first: emma, second: try fileName("Emmy")], own: [])
    #expect(later[first] == names[first])
  }

  @Test func whoGivesANameHasIt() {
    var pins = PinnedNames()
    _ = pins.names(of: [second: emma], own: [])
    _ = pins.names(of: [first: emma], own: [])
    pins.free(emma, for: first, present: [first])
    #expect(pins.names(of: [first: emma], own: []) == [first: emma])
    // Not while the other one is here.
    pins.free(emma, for: second, present: [first, second])
    #expect(pins.names(of: [first: emma, second: emma], own: [])[first] == emma)
  }

  /// So that whoever is told of it knows which one it is.
  @Test func whoeverLostANameIsStillKnownByIt() throws {
    var pins = PinnedNames()
    _ = pins.names(of: [second: emma], own: [])
    pins.free(emma, for: first, present: [first])
    #expect(pins.names(of: [first: emma], own: []) == [first: emma])
    #expect(pins.name(of: second) == emma)
    #expect(try PinnedNames(decoding: pins.encoded()) == pins)
    let names = pins.names(of: [first: emma, second: emma], own: [])
    #expect(names == [first: emma, second: suffixed(second)])
    #expect(pins.name(of: second) == suffixed(second))
  }

  @Test func aRenewalTakesTheNameOnce() throws {
    var pins = PinnedNames()
    _ = pins.names(of: [first: emma], own: [])
    _ = pins.names(of: [first: emma, second: emma], own: [])
    pins.pass(from: first, to: second, title: emma)
    let names = pins.names(of: [first: emma, second: emma], own: [first])
    #expect(names[second] == emma && names[first] != emma && names[first] != nil)
    // What has another name by now has none to give, nor has what is called otherwise.
    pins.pass(from: first, to: third, title: emma)
    pins.pass(from: second, to: third, title: try fileName("Emmy"))
    #expect(pins.name(of: third) == nil)
    #expect(pins.names(of: [second: emma], own: [])[second] == emma)
  }

  @Test func bytesGiveTheSame() throws {
    var pins = PinnedNames()
    _ = pins.names(of: [first: emma, second: emma], own: [])
    #expect(try PinnedNames(decoding: pins.encoded()) == pins)
    #expect(throws: ModelError.self) { try PinnedNames(decoding: [0x0a, 0x02, 0x0a, 0x00]) }
  }
}
