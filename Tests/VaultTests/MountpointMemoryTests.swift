import BlobStore
import MachineState
import TestSupport
import Testing
import VaultErrors
import VaultModel

@testable import Vault

struct MountpointMemoryTests {
  private let store = MemoryStore()
  private var state: StateFolder { StateFolder(store: store) }

  private func place(_ path: String, keeps: Bool = false) -> MountpointMemory.Place {
    .init(path: Array(path.utf8), name: Array("\(path) by a link".utf8), keepsTraces: keeps)
  }

  @Test func givesBackWhatWasNoted() throws {
    let odd = MountpointMemory.Place(
      path: [0x2f, 0xff, 0x0a, 0x20], name: [0x2f], keepsTraces: true)
    #expect(try state.loadMountpoints() == MountpointMemory())
    try state.updateMountpoints { memory in
      memory.note(place("/a"))
      memory.note(odd)
      memory.note(place("/a", keeps: true))
      memory.hasToldOfPreviews = true
    }
    let memory = try state.loadMountpoints()
    #expect(memory.places == [odd, place("/a", keeps: true)])
    #expect(memory.hasToldOfPreviews)
    try state.updateMountpoints { memory in
      memory.note(place("/a"))
      memory.keepTraces(at: odd.path)
    }
    #expect(try state.loadMountpoints().places == [odd, place("/a")])
  }

  @Test func keepsTheLastSixtyFourMountpointsAndNoLongerPath() {
    var memory = MountpointMemory()
    memory.note(place("/" + String(repeating: "a", count: MountpointMemory.pathByteLimit)))
    #expect(memory.places.isEmpty)
    for number in 0..<100 { memory.note(place("/\(number)")) }
    #expect(memory.places.map(\.path) == (36..<100).map { Array("/\($0)".utf8) })
    #expect(MountpointMemory(decoding: memory.encoded()) == memory)
  }

  @Test func aDamagedOneIsToldAndBegunAnew() throws {
    try state.updateMountpoints { $0.note(place("/a")) }
    var bytes = try store.read("mountpoints", limit: 1 << 20)
    bytes[30] ^= 1
    try store.replace("mountpoints", bytes, durably: true)
    #expect(throws: VaultError.self) { try state.loadMountpoints() }
    try state.updateMountpoints { $0.note(place("/b")) }
    #expect(try state.loadMountpoints().places == [place("/b")])
  }
}
