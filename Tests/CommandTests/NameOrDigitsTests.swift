import Testing

@testable import kinvault

/// What somebody names by its name or by the first digits of its id, where others have chosen the names.
@Suite struct NameOrDigitsTests {
  private struct Device: Equatable {
    var name: String
    var id: String
  }

  private let phone = Device(name: "Phone", id: "3fa8c21b77d09e5512aa")
  private let laptop = Device(name: "laptop", id: "90beef00aa11223344bb")

  private func meant(_ text: String, _ devices: [Device]) -> [Device] {
    NameOrDigits(text).meant(among: devices, name: { $0.name }, id: { $0.id })
  }

  @Test func aNameOrTheBeginningOfAnID() {
    let devices = [phone, laptop, Device(name: "", id: "0000000000000000ffff")]
    #expect(meant("phone", devices) == [phone])
    #expect(meant("Laptop", devices) == [laptop])
    #expect(meant("3FA8C2", devices) == [phone])
    #expect(meant("3fa8c", devices) == [])
    #expect(meant("", devices) == [])
    #expect(meant("3fa8c21b77e0", devices) == [])
  }

  @Test func ofSeveralOfOneNameNoneIsTaken() throws {
    let other = Device(name: "phone", id: "1111111111111111eeee")
    func one(_ text: String, _ devices: [Device]) throws -> Device? {
      try NameOrDigits(text).one(among: devices, name: { $0.name }, id: { $0.id })
    }
    #expect(try one("phone", [phone, laptop]) == phone)
    #expect(try one("phone", [laptop]) == nil)
    // It stands there twice, and is one.
    #expect(try one("phone", [phone, laptop, phone]) == phone)
    #expect(try one("111111", [phone, other]) == other)
    #expect {
      try one("phone", [phone, other])
    } throws: { error in
      let report = FailureReport(error)
      return report.status == .usage && report.message.contains("3fa8c21b77d0, 111111111111")
    }
  }

  /// Whoever has stolen the phone lets in a device that is called as the digits of the phone's id: it is not removed in its place.
  @Test(arguments: 6...20)
  func noNameIsTakenForTheDigitsOfAnotherID(count: Int) {
    let digits = String(phone.id.prefix(count))
    let puppet = Device(name: digits, id: "1111111111111111eeee")
    let found = meant(digits, [puppet, phone, laptop])
    #expect(found == (count < 12 ? [puppet, phone] : [phone]))
  }
}
