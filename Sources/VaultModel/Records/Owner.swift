/// The user and group that a file belongs to; nil is whoever mounts the vault.
package struct Owner: Hashable, Sendable {
  // As stored in the messages: the id plus one, so that zero can mean none. The id 2^32 - 1, which
  // no user may have, is the only one that does not fit.
  var uidPlusOne: UInt32
  var gidPlusOne: UInt32

  package static let mounter = Owner()

  package init(uid: UInt32? = nil, gid: UInt32? = nil) {
    uidPlusOne = uid.map { $0 &+ 1 } ?? 0
    gidPlusOne = gid.map { $0 &+ 1 } ?? 0
  }

  package var uid: UInt32? {
    get { uidPlusOne == 0 ? nil : uidPlusOne - 1 }
    set { uidPlusOne = newValue.map { $0 &+ 1 } ?? 0 }
  }

  package var gid: UInt32? {
    get { gidPlusOne == 0 ? nil : gidPlusOne - 1 }
    set { gidPlusOne = newValue.map { $0 &+ 1 } ?? 0 }
  }
}
