import SystemPackage

/// Where a user's programs keep what they remember.
package struct TracePlaces: Hashable, Sendable {
  package var home: FilePath
  /// `$XDG_CACHE_HOME`, by default `~/.cache`.
  package var cache: FilePath
  /// `$XDG_DATA_HOME`, by default `~/.local/share`.
  package var data: FilePath
  /// `$XDG_CONFIG_HOME`, by default `~/.config`.
  package var configuration: FilePath
  /// `$XDG_STATE_HOME`, by default `~/.local/state`.
  package var state: FilePath
  /// Folders of all users in which vim puts swap files that have no place beside the file.
  package var shared: [FilePath] = ["/var/tmp", "/tmp"]

  package init(home: FilePath, environment: (String) -> String?) {
    func folder(_ name: String, orBelowHome path: String) -> FilePath {
      // The specification passes over what is not absolute.
      if let value = environment(name), value.hasPrefix("/") { return FilePath(value) }
      return home.appending(path)
    }
    self.home = home
    cache = folder("XDG_CACHE_HOME", orBelowHome: ".cache")
    data = folder("XDG_DATA_HOME", orBelowHome: ".local/share")
    configuration = folder("XDG_CONFIG_HOME", orBelowHome: ".config")
    state = folder("XDG_STATE_HOME", orBelowHome: ".local/state")
  }

  /// Where people have vim and Neovim keep undo files, which by themselves lie beside the file or nowhere.
  var undoFolders: [FilePath] {
    [
      home.appending(".vim/undo"), home.appending(".vim/undodir"), home.appending(".undodir"),
      home.appending(".vimundo"), cache.appending("vim/undo"), state.appending("vim/undo"),
      state.appending("nvim/undo"), data.appending("nvim/undo"),
    ]
  }

  /// Where previews are kept; for a message.
  package var previews: FilePath { cache.appending("thumbnails") }
}
