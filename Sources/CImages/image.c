#include "CImages.h"

#include <string.h>

static const struct kv_format *formats;

// NULL for what is none of them.
static const struct kv_format *format_of(struct kv_bytes file) {
  if (file.count < 12) return NULL;
  for (const struct kv_format *format = formats; format->is != NULL; format++)
    if (format->is(file.start)) return format;
  return NULL;
}

static int pages(struct kv_bytes file) {
  const struct kv_format *format = format_of(file);
  if (format == NULL) return 0;
  return format->pages == NULL ? 1 : format->pages(file.start, file.count);
}

// A pixel's place in what is shown, of its place in what is stored (EXIF 2.3, tag 0x0112): from 5 on rows become columns.
static struct kv_picture turned(const uint8_t *pixels, int width, int height, int orientation) {
  if (orientation < 2 || orientation > 8) return (struct kv_picture){width, height, (uint8_t *)pixels};
  bool swaps = orientation >= 5;
  struct kv_picture result = {swaps ? height : width, swaps ? width : height, kv_memory((size_t)width * height, 4)};
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int column = from_right ? width - 1 - x : x, row = from_below ? height - 1 - y : y;
      size_t place = swaps ? (size_t)column * height + row : (size_t)row * width + column;
      memcpy(result.pixels + 4 * place, pixels + 4 * ((size_t)y * width + x), 4);
    }
  return result;
}

static struct kv_bytes picture(struct kv_bytes file, const struct kv_view *view) {
  const struct kv_format *format = format_of(file);
  if (format == NULL || (view->page > 1 && format->pages == NULL)) kv_nothing();
  struct image image = {.bytes = file.start, .count = file.count, .page = view->page, .side = view->side};
  format->read(&image);
  return kv_webp_of_picture(turned(in_srgb(&image), image.width, image.height, image.orientation));
}

int kv_render_images(int argc, char **argv, const struct kv_format *known) {
  static const struct kv_opener opener = {.pages = pages, .picture = picture};
  formats = known;
  return kv_render(argc, argv, &opener);
}
