import Testing
import Vault
import VaultModel

@testable import VaultFiles

/// A process that shows many vaults one after the other does not keep what it showed.
@Suite struct LifetimeTests {
  @Test func aTreeThatIsLetGoOfTakesItsNodesWithIt() throws {
    let mounted = try MountedVault()
    try mounted.tree.mkdir("Emma")
    try mounted.tree.mkdir("Emma/visit")
    try mounted.tree.write("Emma/visit/note", "seen")
    try mounted.tree.commitNow()
    weak var objects: MemberObjects?
    do {
      let tree = try mounted.mountAgain()
      tree.start()
      #expect(try tree.text("Emma/visit/note") == "seen")
      // Only a view, and through it its nodes, has them.
      objects = tree.withTree { $0.views.values.first?.objects }
      #expect(objects != nil)
      try tree.stop()
    }
    #expect(objects == nil)
  }
}
