import Vault
import VaultModel

/// What members are called, and which of them this person made.
struct MemberTitles: Equatable, Sendable {
  private(set) var all: [MemberID: FileName] = [:]
  private(set) var own: Set<MemberID> = []

  fileprivate mutating func add(_ member: Member, _ title: FileName) {
    all[member.id] = title
    if member.isOwn { own.insert(member.id) }
  }
}

/// What a mount shows: whoever has it `inout` holds the tree lock.
///
/// It is held for memory accesses only: no I/O, no decryption and no waiting happens under it. What something needs that
/// is not loaded is a `TreeObstacle`, which `FileTree.look` removes.
struct TreeState: ~Copyable {
  let options: FileTreeOptions
  let committer: Committer
  /// Directories and files by inode number; the top is not among them.
  private(set) var nodes: [Inode: Node] = [:]
  private(set) var views: [MemberID: MemberView] = [:]
  /// Members that this person has no access to any more, and of which a program may have files mapped. They show nowhere, and
  /// what it changes there may still come.
  private(set) var parting: [MemberView] = []
  /// The members by the names they show under.
  private(set) var members: [FileName: MemberView] = [:]
  /// The top directory's times.
  var topChanged: FileTimestamp
  /// Files of loaded directories, and for each of these as much as it costs beside.
  var loadedItemCount = 0
  var clock: UInt64 = 0

  init(options: FileTreeOptions, committer: Committer) {
    self.options = options
    self.committer = committer
    topChanged = .now
  }

  deinit {
    // A view and its nodes hold each other.
    for node in nodes.values {
      (node as? DirectoryNode)?.view.letGo()
      (node as? FileNode)?.view.letGo()
    }
  }

  /// All members, those that are parting included; of one that this person has access to again there are two then.
  var allViews: [MemberView] { Array(views.values) + parting }

  /// What could not be saved so far, of all members.
  var unsaved: [Unsaved] { allViews.flatMap(\.unsaved) }

  // MARK: Members

  /// Whether what is shown are these members, as they are open now.
  func shows(_ members: [Member]) -> Bool {
    parting.isEmpty && views.count == members.count
      && members.allSatisfy { views[$0.id]?.member === $0 }
  }

  /// Takes in members that are not there yet, which show once they have names (`nameMembers`).
  ///
  /// Those that an owner has taken from this person are not shown any more, but for one in which something was changed
  /// and not saved: that can be copied elsewhere until the mount ends. So can pages of a mapping that come later.
  mutating func adopt(_ members: [Member], audit: AuditLog) {
    let present = Set(members.map(ObjectIdentifier.init))
    let known = allViews
    for view in known { view.hasEnded = !present.contains(ObjectIdentifier(view.member)) }
    views = views.filter { !$0.value.hasEnded || $0.value.holdsUnsaved }
    for view in parting where views[view.member.id] == nil {
      if !view.hasEnded || view.holdsUnsaved { views[view.member.id] = view }
    }
    for member in members where views[member.id] == nil {
      let view = MemberView(
        member: member, objects: MemberObjects(member: member, audit: audit))
      views[member.id] = view
    }
    parting = known.filter { view in
      views[view.member.id] !== view && (view.holdsUnsaved || view.mayBeMapped)
    }
  }

  /// What the names of the members that are shown depend on; of those that will be, where these are about to be adopted.
  func titles(adopting members: [Member]?) -> MemberTitles {
    var titles = MemberTitles()
    var shown = Array(views.values)
    if let members {
      let present = Set(members.map(ObjectIdentifier.init))
      shown = (parting + shown).filter { view in
        view.holdsUnsaved || present.contains(ObjectIdentifier(view.member))
      }
      for member in members { titles.add(member, member.name) }
    }
    for view in shown {
      titles.add(view.member, view.place(of: .root)?.title ?? view.member.name)
    }
    return titles
  }

  /// Builds the names of the top directory anew.
  mutating func nameMembers(_ names: [MemberID: FileName]) {
    members = [:]
    for (id, view) in views { if let name = names[id] { members[name] = view } }
  }

  /// Does something that may name members anew.
  ///
  /// - Returns: The names under which another member shows than before, or none.
  mutating func renamed(by change: (inout TreeState) -> Void) -> Set<FileName> {
    let before = members
    change(&self)
    return Set(before.keys).union(members.keys).filter { before[$0] !== members[$0] }
  }

  // MARK: Nodes

  /// The node of a record; nil if there is no such record.
  mutating func directory(_ record: RecordID, of view: MemberView) -> DirectoryNode? {
    if let node = view.directories[record] { return node }
    guard let entry = view.member.entry(record) else { return nil }
    let node = DirectoryNode(inode: freeInode(view, record), view: view, entry: entry)
    add(node)
    return node
  }

  mutating func add(_ node: DirectoryNode) {
    nodes[node.inode] = node
    node.view.directories[node.record] = node
    loadedItemCount += node.loadedCost
  }

  mutating func add(_ node: FileNode) {
    nodes[node.inode] = node
    node.view.files[node.file] = node
  }

  mutating func remove(_ node: FileNode) {
    nodes[node.inode] = nil
    node.view.forgetTakenName(of: node)
    if node.view.files[node.file] === node { node.view.files[node.file] = nil }
  }

  mutating func remove(_ node: DirectoryNode) {
    nodes[node.inode] = nil
    if node.view.directories[node.record] === node { node.view.directories[node.record] = nil }
    loadedItemCount -= node.loadedCost
  }

  /// The number that a record or file has unless another took it: the same in every mount.
  static func usualInode(_ view: MemberView, _ id: some FixedBytes) -> Inode {
    let inode = view.member.id.firstWord ^ id.firstWord
    return inode <= FileTree.root ? inode + 2 : inode
  }

  func freeInode(_ view: MemberView, _ id: some FixedBytes) -> Inode {
    var inode = Self.usualInode(view, id)
    while nodes[inode] != nil || inode <= FileTree.root { inode &+= 1 }
    return inode
  }
}
