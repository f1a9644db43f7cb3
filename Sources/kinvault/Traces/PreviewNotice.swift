import SystemPackage

/// What a person who mounts a vault on a desktop is told once: programs there keep previews of what they show.
enum PreviewNotice {
  static func tellOnce(_ traces: VaultTraces, keepsTraces: Bool) {
    guard isDesktop, traces.isFirstToBeTold() else { return }
    let end =
      keepsTraces ? "they stay there, as you want it" : "Kinvault removes them when it unmounts"
    Terminal.note(
      "File managers keep readable previews of what they show, in \(Terminal.visible(VaultTraces.previews.string)); \(end). "
        + "To see what is kept: kinvault leaks. To have none made: Docs/Desktop.md")
  }

  /// Whether there are programs with windows that could show the mount.
  private static var isDesktop: Bool {
    ["DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP"].contains {
      Environment.value($0) != nil
    }
  }
}
