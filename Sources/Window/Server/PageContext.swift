import HTTPTypes
import Hummingbird
import VaultModel

/// What is known of a request besides what it says.
struct PageContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The browser, once the door has let it in.
  var visitor: Door.Visitor?
  var texts = Texts.all[0]

  init(source: Source) { coreContext = .init(source: source) }

  /// What the address names by its digits where the route has `:name`.
  ///
  /// - Throws: "Not found" for what can name nothing.
  func id<ID: FixedBytes>(named name: String) throws -> ID {
    guard let id = parameters.get(name).flatMap({ ID(hex: $0) }) else { throw HTTPError(.notFound) }
    return id
  }
}
