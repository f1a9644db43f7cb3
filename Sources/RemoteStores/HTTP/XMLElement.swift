/// An element of XML: its name without the namespace, and what stands in it. Attributes are left out.
package struct XMLElement {
  package let name: String
  /// All text directly in it, in one.
  package private(set) var text = ""
  private var elements: [XMLElement] = []

  init(name: String) {
    self.name = name
  }

  /// The first element of this name in it.
  package func first(_ name: String) -> XMLElement? {
    elements.first { $0.name == name }
  }

  /// Every element of this name in it, in their order.
  package func all(_ name: String) -> [XMLElement] {
    elements.filter { $0.name == name }
  }

  /// The text of the first element of this name in it.
  package func text(of name: String) -> String? {
    first(name)?.text
  }

  mutating func add(_ element: XMLElement) {
    elements.append(element)
  }

  mutating func add(_ text: String) {
    self.text += text
  }
}
