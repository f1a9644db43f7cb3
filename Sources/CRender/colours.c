#include <string.h>

#include "image.h"

uint8_t *plainly_in_srgb(const struct image *image) {
  size_t count = (size_t)image->width * image->height;
  uint8_t *picture = kv_memory(count, 4), *result = picture;
  memset(picture, 255, count * 4);
  const uint8_t *from = image->pixels;
  for (size_t i = 0; i < count; i++, result += 4, from += value_count(image->layout)) {
    switch (image->layout) {
      case GREY: case GREY_ALPHA: memset(result, from[0], 3); break;
      case RGB: case RGBA: memcpy(result, from, 3); break;
      case CMYK:
        for (int v = 0; v < 3; v++) result[v] = (uint8_t)((255 - from[v]) * (255 - from[3]) / 255);
        break;
    }
    if (image->layout == GREY_ALPHA) result[3] = from[1];
    if (image->layout == RGBA) result[3] = from[3];
  }
  return picture;
}
