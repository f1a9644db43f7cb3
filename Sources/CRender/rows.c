#include "image.h"

static uint64_t scaled(int size, double factor) {
  double result = size * factor + 0.5;
  return result < 1 ? 1 : (uint64_t)result;
}

struct kv_picture kv_rows_fitted(struct kv_rows rows, int side) {
  struct image image = {.side = side};
  // What is too narrow would be of more pixels than there are, so what is too long is made of fewer.
  double height = rows.pixel_height;
  fit(&image, scaled(rows.width, height > 1 ? 1 / height : 1), scaled(rows.height, height < 1 ? height : 1));
  enum layout layout = rows.values == 1 ? GREY : RGB;
  begin(&image, rows.width, rows.height, layout);
  uint8_t *row = kv_memory((size_t)rows.width, (size_t)value_count(layout));
  for (int y = 0; y < rows.height; y++) {
    rows.put(rows.source, y, row);
    add_row(&image, row);
  }
  return (struct kv_picture){image.width, image.height, plainly_in_srgb(&image)};
}
