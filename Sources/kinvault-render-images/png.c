#include <png.h>
#include <string.h>

#include "formats.h"

static void fail(png_structp png, png_const_charp text) {
  (void)png, (void)text;
  kv_nothing();
}

static void pass_over(png_structp png, png_const_charp text) { (void)png, (void)text; }

static void give(png_structp png, png_bytep bytes, size_t count) {
  struct image *image = png_get_io_ptr(png);
  if (count > image->count) kv_nothing();
  memcpy(bytes, image->bytes, count);
  image->bytes += count;
  image->count -= count;
}

static void take_orientation_and_profile(struct image *image, png_structp png, png_infop info) {
  png_bytep exif, profile;
  png_uint_32 size;
  png_charp name;
  int kind;
  if (png_get_eXIf_1(png, info, &size, &exif) != 0) image->orientation = exif_orientation(exif, size);
  if (png_get_iCCP(png, info, &name, &kind, &profile, &size) != 0) image->profile = profile, image->profile_size = size;
}

void read_png(struct image *image) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, fail, pass_over);
  png_infop info = png == NULL ? NULL : png_create_info_struct(png);
  if (info == NULL) kv_nothing();
  png_set_read_fn(png, image, give);
  png_read_info(png, info);
  int width = (int)png_get_image_width(png, info), height = (int)png_get_image_height(png, info);
  fit(image, (uint64_t)width, (uint64_t)height);
  take_orientation_and_profile(image, png, info);

  // Eight bits a value, no tables, and opacity as a value of its own.
  png_set_expand(png);
  png_set_scale_16(png);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  static const enum layout layouts[] = {GREY, GREY_ALPHA, RGB, RGBA};
  int values = png_get_channels(png, info);
  if (values < 1 || values > 4 || png_get_rowbytes(png, info) != (size_t)width * (size_t)values) kv_nothing();
  begin(image, width, height, layouts[values - 1]);

  // In several passes the rows are complete with the last one.
  size_t size = (size_t)width * (size_t)values;
  uint8_t *rows = kv_memory(passes > 1 ? (size_t)height : 1, size);
  for (int pass = 0; pass < passes; pass++)
    for (int y = 0; y < height; y++) {
      uint8_t *row = passes > 1 ? rows + (size_t)y * size : rows;
      png_read_row(png, row, NULL);
      if (pass == passes - 1) add_row(image, row);
    }
}
