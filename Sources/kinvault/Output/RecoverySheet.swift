/// A page that is kept with passports: what opens the vault when nothing else does.
///
/// It is one page on A4 and on letter, loads nothing from elsewhere and runs nothing.
struct RecoverySheet {
  struct Remote {
    var name: String
    var address: String
  }

  var folder: String
  var machine: String
  var vault: String
  var remotes: [Remote]
  var date: String
  /// None: blanks to be filled in.
  var words: [String]

  /// So that it stays one page; a vault has few.
  static let shownRemotes = 3
  /// A path or an address may be thousands of characters long, and the page is one.
  static let shownCharacters = 120
  private static let wordCount = 24

  var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>Kinvault recovery sheet</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <p class="screen">\(screenHint)</p>
    <h1>Recovery sheet</h1>
    <p class="what">The 24 words on this page open a <b>Kinvault vault</b>: an encrypted folder with a family’s health records.
    They are needed when its password is forgotten, or the computer is lost, stolen or broken. Whoever has these words
    and a copy of the folder can read everything in it. <b>Keep this page where you keep passports</b>, away from the
    computer; do not photograph it.</p>

    <h2>Where the vault is</h2>
    <table>
    <tr><th>On the computer</th><td>\(Self.shown(machine))</td></tr>
    <tr><th>In the folder</th><td class="code">\(Self.shown(folder))</td></tr>
    \(remoteRows)
    <tr><th>Its number</th><td class="code">\(Self.shown(vault))</td></tr>
    <tr><th>Other copies</th><td class="blank"></td></tr>
    <tr><th>Whose words</th><td class="blank"></td></tr>
    </table>

    <h2>The 24 words</h2>
    <ol class="words">
    \(wordItems)
    </ol>

    <h2>What to do with them</h2>
    <ol class="steps">
    <li>On a computer with Linux (Debian 12 or newer), install Kinvault: <code>apt install ./kinvault.deb</code>.
    A copy of the program is kept at: <span class="line"></span></li>
    <li>With the folder, or any copy of it, at hand: <code>kinvault recover --vault FOLDER</code><br>
    With nothing but one of the remotes above: <code>kinvault clone ADDRESS ~/Family</code><br>
    Either asks for the 24 words in their order (the first four letters of each will do) and for a new password.</li>
    <li>Then <code>kinvault mount ~/records --vault FOLDER</code> shows the records as a folder of ordinary files.</li>
    </ol>
    <p>Once a year <code>kinvault recovery test</code> says whether the words still count. If somebody may have seen this page,
    <code>kinvault recovery rotate</code> makes new words, and these open nothing new. Without password and words nobody can open
    the vault, not even the people who made Kinvault.</p>
    <footer>Made on \(Self.shown(date)) by Kinvault \(Kinvault.version). Words written down on: ____________________
    Tested on: ____________________</footer>
    </body>
    </html>

    """
  }

  private var screenHint: String {
    words.isEmpty
      ? "Print this page, on A4 or letter paper, and fill in the words with a pen. This line is not printed."
      : "Print this page, on A4 or letter paper, then delete the file: the words stand in it. This line is not printed."
  }

  private var remoteRows: String {
    var rows = remotes.prefix(Self.shownRemotes).map { remote in
      "<tr><th>Remote \(Self.shown(remote.name))</th>"
        + "<td class=\"code\">\(Self.shown(remote.address))</td></tr>"
    }
    if remotes.count > rows.count {
      rows.append("<tr><th>Remotes</th><td>and \(remotes.count - rows.count) more</td></tr>")
    }
    return rows.joined(separator: "\n")
  }

  private var wordItems: String {
    (0..<Self.wordCount).map { position in
      let word = position < words.count ? Self.shown(words[position]) : ""
      return "<li>\(word.isEmpty ? "<span></span>" : "<b>\(word)</b>")</li>"
    }.joined(separator: "\n")
  }

  /// Text for a page: nothing in it is markup, and it has the direction of its own letters.
  private static func shown(_ text: String) -> String {
    let visible = Terminal.visible(text)
    let short =
      visible.count <= shownCharacters
      ? visible : "\(visible.prefix(shownCharacters / 2))…\(visible.suffix(shownCharacters / 2))"
    let escaped = short.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
    return "<bdi>\(escaped)</bdi>"
  }

  /// The paper is what the print dialogue says; 250 mm of height are on both.
  private static let style = """
    @page { size: auto; margin: 12mm 16mm }
    * { box-sizing: border-box }
    body { font: 10pt/1.32 "DejaVu Serif", "Liberation Serif", Georgia, serif; color: #000; background: #fff;
      max-width: 178mm; margin: 0 auto }
    h1 { font-size: 21pt; margin: 0 0 2mm; letter-spacing: .02em }
    h2 { font-size: 12pt; margin: 3.6mm 0 1.2mm; border-bottom: .4mm solid #000; padding-bottom: .6mm }
    p { margin: 0 0 2mm }
    table { border-collapse: collapse; width: 100% }
    th { text-align: left; font-weight: normal; width: 36mm; color: #333; vertical-align: top; padding: .7mm 2mm .7mm 0;
      overflow-wrap: anywhere }
    td { padding: .7mm 0; overflow-wrap: anywhere }
    td.blank { border-bottom: .2mm solid #000; height: 6.6mm }
    code, .code { font: 9pt/1.35 "DejaVu Sans Mono", "Liberation Mono", monospace }
    ol.words { columns: 4; column-gap: 7mm; margin: 2.5mm 0 0; padding: 0; list-style: none; counter-reset: word }
    ol.words li { counter-increment: word; display: flex; align-items: flex-end; height: 7.9mm; break-inside: avoid }
    ol.words li::before { content: counter(word); width: 7mm; font-size: 9pt; color: #333 }
    ol.words li span, ol.words li b { flex: 1; border-bottom: .2mm solid #000; min-height: 6mm;
      font: bold 11pt "DejaVu Sans Mono", "Liberation Mono", monospace }
    ol.steps { margin: 0 0 2mm; padding-left: 6mm }
    ol.steps li { margin-bottom: 1.2mm }
    .line { display: inline-block; width: 66mm; border-bottom: .2mm solid #000 }
    footer { margin-top: 3mm; border-top: .2mm solid #000; padding-top: 1.5mm; font-size: 8.5pt; color: #333 }
    .screen { background: #ffe9a8; padding: 2mm 3mm; margin: 3mm 0 }
    @media print { .screen { display: none } }
    """
}
