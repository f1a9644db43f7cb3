import CImages
import CPoppler
import Glibc

/// A PDF that is open, by poppler.
struct PDFDocument: ~Copyable {
  private let document: OpaquePointer

  /// Nil for what is no PDF, or one that only a password opens.
  init?(_ bytes: [UInt8]) {
    guard let content = g_bytes_new(bytes, gsize(bytes.count)) else { return nil }
    defer { g_bytes_unref(content) }
    guard let document = poppler_document_new_from_bytes(content, nil, nil) else { return nil }
    self.document = document
  }

  deinit { g_object_unref(UnsafeMutableRawPointer(document)) }

  /// As it says itself, which may be any number.
  var pageCount: Int32 { max(0, poppler_document_get_n_pages(document)) }

  /// The text of a page, from 0 on; nil if there is no such page. At most so many bytes.
  func text(ofPage index: Int32, limit: Int) -> [UInt8]? {
    guard let page = poppler_document_get_page(document, index) else { return nil }
    defer { g_object_unref(UnsafeMutableRawPointer(page)) }
    guard let found = poppler_page_get_text(page) else { return [] }
    defer { g_free(found) }
    return Array(UnsafeRawBufferPointer(start: found, count: strnlen(found, limit)))
  }

  /// A page, from 1 on, on white, that fits into a square; nil if there is no such page.
  func picture(ofPage number: Int32, side: Int32) -> kv_webp? {
    guard number <= pageCount, let page = poppler_document_get_page(document, number - 1) else {
      return nil
    }
    defer { g_object_unref(UnsafeMutableRawPointer(page)) }
    var (width, height) = (0.0, 0.0)
    poppler_page_get_size(page, &width, &height)
    guard width > 0, height > 0, width.isFinite, height.isFinite else { return nil }
    let scale = Double(side) / max(width, height)
    let columns = Int32(max(1, (width * scale).rounded()))
    let rows = Int32(max(1, (height * scale).rounded()))
    guard let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows) else {
      return nil
    }
    defer { cairo_surface_destroy(surface) }
    let context = cairo_create(surface)
    defer { cairo_destroy(context) }
    cairo_set_source_rgb(context, 1, 1, 1)
    cairo_paint(context)
    cairo_scale(context, Double(columns) / width, Double(rows) / height)
    poppler_page_render(page, context)
    cairo_surface_flush(surface)
    // What went wrong on the way is shown as far as it came.
    guard let pixels = cairo_image_surface_get_data(surface) else { return nil }
    return kv_webp_of_cairo(pixels, columns, rows, cairo_image_surface_get_stride(surface))
  }
}
