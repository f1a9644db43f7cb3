import Dispatch
import Threads
import VaultModel

/// The outcome of sealing one chunk on another thread, to be asked for or waited for.
final class SealTicket: Sendable {
  private let outcome = Monitor<Result<StoredObject, FileError>?>(nil)

  /// nil while the worker has it.
  var result: Result<StoredObject, FileError>? { outcome.withLock { $0 } }

  func wait() -> Result<StoredObject, FileError> {
    outcome.wait { outcome in outcome.map { .answer($0) } ?? .wait }
  }

  func finish(_ result: Result<StoredObject, FileError>) {
    outcome.change { $0 = result }
  }
}

/// A few workers that seal chunks while their writers go on; a writer that is too far ahead waits.
final class SealingPool: Sendable {
  private let queue = DispatchQueue(
    label: "kinvault.sealing", qos: .userInitiated, attributes: .concurrent)
  private let slots: DispatchSemaphore

  /// - Parameter limit: how many chunks may be under way at once.
  init(limit: Int = 8) { slots = DispatchSemaphore(value: limit) }

  /// Has a worker put the buffer's content into the store; waits while too many are under way. Nobody may change
  /// the buffer until the ticket has its result.
  func seal(_ buffer: ChunkBuffer, into store: some DraftStore) -> SealTicket {
    let ticket = SealTicket()
    slots.wait()
    queue.async { [slots] in
      do throws(FileError) {
        ticket.finish(.success(try store.put(.chunk, buffer.bytes)))
      } catch {
        ticket.finish(.failure(error))
      }
      slots.signal()
    }
    return ticket
  }
}
