import MachineState
import Vault
import VaultCrypto
import VaultModel
import VaultSync

/// The small files of this machine's state. Their checksum is put right first, or nothing would get past it.
extension FuzzTarget {
  static func stateFiles() -> [FuzzTarget] {
    var random = SeededRandom(seed: 11)
    guard let name = RemoteName("nas") else { preconditionFailure("a name of three letters") }
    var memory = RemoteMemory()
    memory.lastFullLook = 9
    memory.lastLogs = 8
    memory.seen[.head(random.id(), random.id())] = RemoteMemory.Seen(
      fingerprint: 255, state: RegisterState(counter: 3, hash: random.id()))
    memory.fail(at: 5, "refused by the server")
    let configuration = RemoteConfiguration(
      name: name, address: "s3://bucket/a folder", options: ["region": "eu-1"], created: 12,
      credentials: Sealed(nonce: random.bytes(12), ciphertext: random.bytes(40)))
    let lazy = LazySettings(
      cacheByteLimit: 1 << 30, pins: [.init(member: random.id(), record: random.id())])
    var mountpoints = MountpointMemory()
    mountpoints.note(.init(path: random.bytes(9), name: random.bytes(20), keepsTraces: true))
    return [
      target("mountpoints", mountpoints, { MountpointMemory(decoding: $0) }, { $0.encoded() }),
      target("remote-memory", memory, { RemoteMemory(decoding: $0) }, { $0.encoded() }),
      target(
        "remote-configuration", configuration, { RemoteConfiguration(decoding: $0, name: name) },
        { $0.encoded() }),
      target("lazy-settings", lazy, { LazySettings(decoding: $0) }, { $0.encoded() }),
    ]
  }

  private static func target<Value: Equatable & SendableMetatype>(
    _ name: String, _ value: Value, _ decode: @escaping @Sendable ([UInt8]) -> Value?,
    _ encode: @escaping @Sendable (Value) -> [UInt8]
  ) -> FuzzTarget {
    let checksumByteCount = "sum \n".utf8.count + FileHash.byteCount * 2
    return FuzzTarget(name: name, seeds: [encode(value).dropLast(checksumByteCount)]) { text in
      let file = text + Array("sum \(Digest.sha256(text).hex)\n".utf8)
      if let value = decode(file), decode(encode(value)) != value { throw Unstable() }
    }
  }
}
