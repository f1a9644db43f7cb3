import CLinux
import Glibc
import VaultErrors
import VaultModel

/// The extended attributes of plain files that a vault keeps: those of users.
enum PlainXattrs {
  /// Those of an open file, sorted by name; none where the file system has none.
  static func load(from descriptor: Int32, path: String) throws(PlainFileError) -> [Xattr] {
    let names = try read("listxattr", path) { kv_flistxattr(descriptor, $0, $1) }
    var xattrs: [Xattr] = []
    var byteCount = 0
    for name in names.split(separator: 0).map(Array.init) where Xattr.isValid(name: name) {
      let terminated = (name + [0]).map { CChar(bitPattern: $0) }
      let value = try read("getxattr", path) { kv_fgetxattr(descriptor, terminated, $0, $1) }
      byteCount += name.count + value.count
      guard byteCount <= Limits.xattrBytes else {
        throw .vault(
          .limit(what: "the extended attributes", found: byteCount, limit: Limits.xattrBytes))
      }
      xattrs.append(Xattr(name: name, value: value))
    }
    return xattrs.sorted { $0.name.lexicographicallyPrecedes($1.name) }
  }

  /// Sets them on an open file.
  ///
  /// - Returns: False where the file system has none, no room for so large ones, or lets only others set them: then what is left
  ///   of them is left out.
  static func store(
    _ xattrs: [Xattr], to descriptor: Int32, path: String
  ) throws(PlainFileError) -> Bool {
    for xattr in xattrs {
      let terminated = (xattr.name + [0]).map { CChar(bitPattern: $0) }
      let result = xattr.value.withUnsafeBytes {
        kv_fsetxattr(descriptor, terminated, $0.baseAddress, $0.count)
      }
      if [ENOTSUP, ENOSPC, E2BIG, ERANGE, EPERM].contains(-result) { return false }
      guard result >= 0 else { throw .system(call: "setxattr", path: path, errno: -result) }
    }
    return true
  }

  /// The bytes that a call gives, which first says how many there are.
  private static func read(
    _ call: String, _ path: String, _ body: (UnsafeMutablePointer<CChar>?, Int) -> Int
  ) throws(PlainFileError) -> [UInt8] {
    var size = body(nil, 0)
    while size > 0 {
      var bytes = [CChar](repeating: 0, count: size)
      let count = bytes.withUnsafeMutableBufferPointer { body($0.baseAddress, $0.count) }
      if count >= 0 { return bytes.prefix(count).map { UInt8(bitPattern: $0) } }
      // It grew in between.
      guard count == -Int(ERANGE) else {
        throw .system(call: call, path: path, errno: Int32(-count))
      }
      size = body(nil, 0)
    }
    if size == 0 || size == -Int(ENOTSUP) { return [] }
    throw .system(call: call, path: path, errno: Int32(-size))
  }
}
