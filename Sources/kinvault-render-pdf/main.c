// kinvault-render-pdf: the pages of PDFs and their text, by poppler.
#include <CRender.h>
#include <math.h>
#include <poppler.h>
#include <stdlib.h>
#include <string.h>

#include "fonts.h"

enum {
  // More text is not given, in bytes.
  TEXT_LIMIT = 4 << 20,
  // No more pages than this are looked at: a document may say that it has any number.
  PAGE_LIMIT = 20000,
};

// NULL for what is no PDF, or one that only a password opens.
static PopplerDocument *document_of(struct kv_bytes file) {
  GBytes *content = g_bytes_new_static(file.start, file.count);
  return poppler_document_new_from_bytes(content, NULL, NULL);
}

// As it says itself, which may be any number.
static int pages(struct kv_bytes file) {
  PopplerDocument *document = document_of(file);
  return document == NULL ? 0 : poppler_document_get_n_pages(document);
}

static struct kv_bytes text(struct kv_bytes file) {
  PopplerDocument *document = document_of(file);
  if (document == NULL) kv_nothing();
  uint8_t *text = kv_memory(TEXT_LIMIT, 1);
  size_t count = 0;
  int page_count = poppler_document_get_n_pages(document);
  for (int i = 0; i < page_count && i < PAGE_LIMIT && count < TEXT_LIMIT; i++) {
    PopplerPage *page = poppler_document_get_page(document, i);
    char *found = page == NULL ? NULL : poppler_page_get_text(page);
    size_t more = found == NULL ? 0 : strnlen(found, TEXT_LIMIT - count);
    if (more > 0) memcpy(text + count, found, more);
    count += more;
    if (count < TEXT_LIMIT) text[count++] = '\f';
    g_free(found);
    if (page != NULL) g_object_unref(page);
  }
  return (struct kv_bytes){text, count};
}

// A page on white. What went wrong on the way is shown as far as it came.
static struct kv_bytes picture(struct kv_bytes file, const struct kv_view *view) {
  PopplerDocument *document = document_of(file);
  if (document == NULL || view->page > poppler_document_get_n_pages(document)) kv_nothing();
  PopplerPage *page = poppler_document_get_page(document, view->page - 1);
  if (page == NULL) kv_nothing();
  double width = 0, height = 0;
  poppler_page_get_size(page, &width, &height);
  if (!(width > 0) || !(height > 0) || !isfinite(width) || !isfinite(height)) kv_nothing();
  double scale = view->side / fmax(width, height);
  if (!isfinite(scale)) kv_nothing();
  int columns = (int)fmax(1, round(width * scale)), rows = (int)fmax(1, round(height * scale));
  cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows);
  cairo_t *context = cairo_create(surface);
  cairo_set_source_rgb(context, 1, 1, 1);
  cairo_paint(context);
  cairo_scale(context, columns / width, rows / height);
  poppler_page_render(page, context);
  cairo_surface_flush(surface);
  const uint8_t *pixels = cairo_image_surface_get_data(surface);
  if (pixels == NULL) kv_nothing();
  return kv_webp_of_cairo(pixels, columns, rows, cairo_image_surface_get_stride(surface));
}

static void prepare_pictures(void) { kv_prepare_fonts(); }

int main(int argc, char **argv) {
  static const struct kv_opener opener = {
      .prepare_pictures = prepare_pictures, .pages = pages, .picture = picture, .text = text};
  return kv_render(argc, argv, &opener);
}
