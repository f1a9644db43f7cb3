import Glibc

/// Words as C takes them for a command: a null-terminated array of C strings, alive as long as this object.
package final class CStringArray {
  package let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  package init(_ words: [String]) {
    count = words.count
    pointers = .allocate(capacity: words.count + 1)
    for (index, word) in words.enumerated() {
      pointers.advanced(by: index).initialize(to: strdup(word))
    }
    pointers.advanced(by: words.count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { free(pointers[index]) }
    pointers.deallocate()
  }
}
