import Fuzzing
import Glibc

// libFuzzer's main calls these. `Scripts/fuzz` builds and runs them; nothing else does.

/// The decoder that `KINVAULT_FUZZ` names.
private let target: FuzzTarget = {
  let name = getenv("KINVAULT_FUZZ").map { String(cString: $0) } ?? ""
  do {
    let targets = try FuzzTarget.all()
    if let found = targets.first(where: { $0.name == name }) { return found }
    print(targets.map(\.name).joined(separator: "\n"))
    exit(name.isEmpty ? 0 : 64)
  } catch {
    fatalError("\(error)")
  }
}()

/// Writes the seeds where `KINVAULT_FUZZ_SEEDS` says.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
  _ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
) -> CInt {
  guard let folder = getenv("KINVAULT_FUZZ_SEEDS").map({ String(cString: $0) }) else {
    _ = target
    return 0
  }
  for (number, seed) in target.seeds.enumerated() {
    guard let file = fopen("\(folder)/seed-\(number)", "w") else { fatalError(folder) }
    fwrite(seed, 1, seed.count, file)
    fclose(file)
  }
  return 0
}

@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  do {
    try target.run(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    fatalError("\(target.name): \(error)")
  }
  return 0
}
