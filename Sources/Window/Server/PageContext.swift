import Hummingbird

/// What is known of a request besides what it says.
struct PageContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  /// The browser, once the door has let it in.
  var visitor: Door.Visitor?
  var texts = Texts.all[0]

  init(source: Source) { coreContext = .init(source: source) }
}
