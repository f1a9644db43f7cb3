/// Makes small PDFs, as bytes.
package enum PDF {
  /// A document with these texts, one a page.
  package static func of(_ pages: [String]) -> [UInt8] {
    let first = 4
    var objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count \(pages.count) /Kids ["
        + pages.indices.map { "\(first + 2 * $0) 0 R" }.joined(separator: " ") + "] >>",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for (number, text) in pages.enumerated() {
      let lines = text.split(separator: "\n").map { "(\(escaped($0))) Tj T*" }
      let content = "BT /F1 12 Tf 14 TL 72 720 Td \(lines.joined(separator: "\n")) ET"
      objects.append(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents \(first + 2 * number + 1) 0 R "
          + "/Resources << /Font << /F1 3 0 R >> >> >>")
      objects.append("<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream")
    }
    return document(objects)
  }

  /// A document whose one page is this JPEG, of so many pixels in three colours.
  package static func scan(_ jpeg: [UInt8], width: Int, height: Int) -> [UInt8] {
    let hex = jpeg.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    let content = "\(width) 0 0 \(height) 0 0 cm /I1 Do"
    return document([
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 \(width) \(height)] /Contents 4 0 R "
        + "/Resources << /XObject << /I1 5 0 R >> >> >>",
      "<< /Length \(content.utf8.count) >>\nstream\n\(content)\nendstream",
      "<< /Type /XObject /Subtype /Image /Width \(width) /Height \(height) /BitsPerComponent 8 "
        + "/ColorSpace /DeviceRGB /Filter [/ASCIIHexDecode /DCTDecode] /Length \(hex.utf8.count) >>\n"
        + "stream\n\(hex)\nendstream",
    ])
  }

  /// A document of these objects, numbered from 1 on; the first is its catalog.
  package static func document(_ objects: [String]) -> [UInt8] {
    var text = "%PDF-1.4\n"
    var offsets: [Int] = []
    for (number, object) in objects.enumerated() {
      offsets.append(text.utf8.count)
      text += "\(number + 1) 0 obj\n\(object)\nendobj\n"
    }
    let start = text.utf8.count
    text += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
    for offset in offsets {
      let digits = String(offset)
      text += String(repeating: "0", count: 10 - digits.count) + digits + " 00000 n \n"
    }
    text += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R >>\nstartxref\n\(start)\n%%EOF\n"
    return Array(text.utf8)
  }

  /// As WinAnsi, in which the letters of Western Europe are what they are in Unicode.
  private static func escaped(_ line: Substring) -> String {
    line.unicodeScalars.map { scalar in
      switch scalar {
      case "(", ")", "\\": "\\\(scalar)"
      case _ where scalar.isASCII: String(scalar)
      default: "\\" + octal(scalar.value)
      }
    }.joined()
  }

  private static func octal(_ value: UInt32) -> String {
    let digits = String(value & 0xFF, radix: 8)
    return String(repeating: "0", count: 3 - digits.count) + digits
  }
}
