// kinvault-render-images: JPEG, PNG, WebP, GIF and TIFF, by the libraries of these formats.
#include <string.h>

#include "formats.h"

static bool is_jpeg(const uint8_t *bytes) { return memcmp(bytes, "\xff\xd8\xff", 3) == 0; }
static bool is_png(const uint8_t *bytes) { return memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0; }
static bool is_webp(const uint8_t *bytes) { return memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0; }
static bool is_gif(const uint8_t *bytes) { return memcmp(bytes, "GIF87a", 6) == 0 || memcmp(bytes, "GIF89a", 6) == 0; }
static bool is_tiff(const uint8_t *bytes) {
  return memcmp(bytes, "II*", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 || memcmp(bytes, "II+", 4) == 0 ||
         memcmp(bytes, "MM\0+", 4) == 0;
}

int main(int argc, char **argv) {
  static const struct kv_format formats[] = {
      {is_jpeg, read_jpeg, NULL}, {is_png, read_png, NULL}, {is_webp, read_webp, NULL},
      {is_gif, read_gif, NULL},   {is_tiff, read_tiff, tiff_pages}, {NULL, NULL, NULL},
  };
  return kv_render_images(argc, argv, formats);
}
