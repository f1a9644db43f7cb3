#include "image.h"

#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

void no_picture(void) { _exit(EX_DATAERR); }

void *memory(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) no_picture();
  return memory;
}

struct format {
  bool (*is)(const uint8_t *bytes);
  void (*read)(struct image *image);
  int (*pages)(const uint8_t *bytes, size_t count);
};

static bool is_jpeg(const uint8_t *bytes) { return memcmp(bytes, "\xff\xd8\xff", 3) == 0; }
static bool is_png(const uint8_t *bytes) { return memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0; }
static bool is_webp(const uint8_t *bytes) { return memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0; }
static bool is_gif(const uint8_t *bytes) { return memcmp(bytes, "GIF87a", 6) == 0 || memcmp(bytes, "GIF89a", 6) == 0; }
static bool is_tiff(const uint8_t *bytes) {
  return memcmp(bytes, "II*", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 || memcmp(bytes, "II+", 4) == 0 ||
         memcmp(bytes, "MM\0+", 4) == 0;
}
static bool is_heif(const uint8_t *bytes) {
  // Pictures in HEVC, as telephones take them.
  static const char *const brands[] = {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1"};
  if (memcmp(bytes + 4, "ftyp", 4) != 0) return false;
  for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
    if (memcmp(bytes + 8, brands[i], 4) == 0) return true;
  return false;
}

static const struct format formats[] = {
    {is_jpeg, read_jpeg, NULL}, {is_png, read_png, NULL},   {is_webp, read_webp, NULL},
    {is_gif, read_gif, NULL},   {is_tiff, read_tiff, tiff_pages}, {is_heif, read_heif, NULL},
};

// NULL for what is none of them.
static const struct format *format_of(const uint8_t *bytes, size_t count) {
  if (count < 12) return NULL;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    if (formats[i].is(bytes)) return &formats[i];
  return NULL;
}

int kv_image_pages(const uint8_t *bytes, size_t count) {
  const struct format *format = format_of(bytes, count);
  if (format == NULL) return 0;
  return format->pages == NULL ? 1 : format->pages(bytes, count);
}

// A pixel's place in what is shown, of its place in what is stored (EXIF 2.3, tag 0x0112): from 5 on rows become columns.
static struct kv_picture turned(const uint8_t *pixels, int width, int height, int orientation) {
  if (orientation < 2 || orientation > 8) return (struct kv_picture){width, height, (uint8_t *)pixels};
  bool swaps = orientation >= 5;
  struct kv_picture result = {swaps ? height : width, swaps ? width : height, memory((size_t)width * height, 4)};
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

struct kv_picture kv_image_fitted(const uint8_t *bytes, size_t count, int page, int side) {
  const struct format *format = format_of(bytes, count);
  if (format == NULL || page < 1 || (page > 1 && format->pages == NULL)) no_picture();
  struct image image = {.bytes = bytes, .count = count, .page = page, .side = side};
  format->read(&image);
  return turned(in_srgb(&image), image.width, image.height, image.orientation);
}
