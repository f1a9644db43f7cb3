import Threads
import Vault
import VaultModel

/// What a pull has authenticated and put in its place a moment ago: whoever comes to it next need not open it again.
final class OpenedContents: Sendable {
  private struct State {
    var contents: [ObjectName: [UInt8]] = [:]
    var room = OpenedContents.limit
  }

  /// So many bytes; what does not fit is opened again.
  private static let limit = 32 << 20

  private let state = Guarded(State())

  /// Keeps the content of an object until it is taken.
  func hold(_ name: ObjectName, _ content: [UInt8]) {
    state.withLock { state in
      guard state.room >= content.count, state.contents[name] == nil else { return }
      state.room -= content.count
      state.contents[name] = content
    }
  }

  /// Gives it once; nil when it is not kept.
  func take(_ name: ObjectName) -> [UInt8]? {
    state.withLock { state in
      guard let content = state.contents.removeValue(forKey: name) else { return nil }
      state.room += content.count
      return content
    }
  }
}
