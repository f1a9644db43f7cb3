/// What an object holds; the first byte of what its name is computed over.
package enum ObjectKind: UInt8, Sendable, CaseIterable {
  case chunk = 1
  case index = 2
  case page = 3
  case record = 4
  case segment = 5
  case announcement = 6
  case authored = 7
}
