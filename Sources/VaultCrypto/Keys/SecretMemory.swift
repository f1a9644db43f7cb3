import CSodium
import Synchronization

/// Where secrets lie: in memory between guard pages, kept out of swap and core dumps where the system allows it.
///
/// Small ones share pages of 64 places, which are lent again and again. A page for each would take twelve system calls, a sixth
/// of all the time of a sync, and 64 times as much of the memory that may be locked, of which many systems allow little.
enum SecretMemory {
  /// The size of a place: every key, seed and digest fits.
  static let placeSize = 64
  private static let placesPerPage = 64

  /// Addresses of places that nobody has; each is all zeros. Their pages stay as long as the process does.
  private static let places = Mutex<[UInt]>([])

  /// Memory for so many bytes, which are zeros; nobody else has it before it is given back. Traps when there is none.
  static func take(_ count: Int) -> UnsafeMutableRawPointer {
    guard count <= placeSize else { return map(count) }
    let address = places.withLock { places in
      if places.isEmpty {
        let page = UInt(bitPattern: map(placeSize * placesPerPage))
        places = (0..<UInt(placesPerPage)).map { page + $0 * UInt(placeSize) }
      }
      return places.removeLast()
    }
    guard let place = UnsafeMutableRawPointer(bitPattern: address) else {
      preconditionFailure("a place has an address")
    }
    return place
  }

  /// Erases what `take` gave for so many bytes.
  static func giveBack(_ memory: UnsafeMutableRawPointer, _ count: Int) {
    guard count <= placeSize else { return sodium_free(memory) }
    sodium_memzero(memory, placeSize)
    let address = UInt(bitPattern: memory)
    places.withLock { $0.append(address) }
  }

  private static func map(_ count: Int) -> UnsafeMutableRawPointer {
    Sodium.prepare()
    guard let memory = sodium_malloc(count) else { fatalError("no memory for a secret") }
    sodium_memzero(memory, count)
    return memory
  }
}
