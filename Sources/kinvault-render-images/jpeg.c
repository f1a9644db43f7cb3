#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#include "formats.h"

static void fail(j_common_ptr jpeg) {
  (void)jpeg;
  kv_nothing();
}

// What is only suspect, a premature end too, is shown as far as it goes.
static void pass_over(j_common_ptr jpeg, int level) { (void)jpeg, (void)level; }

static const char exif_mark[6] = "Exif\0";

static void take_orientation(struct image *image, const struct jpeg_decompress_struct *jpeg) {
  for (jpeg_saved_marker_ptr marker = jpeg->marker_list; marker != NULL; marker = marker->next) {
    if (marker->marker != JPEG_APP0 + 1 || marker->data_length < sizeof exif_mark) continue;
    if (memcmp(marker->data, exif_mark, sizeof exif_mark) != 0) continue;
    image->orientation = exif_orientation(marker->data + sizeof exif_mark, marker->data_length - sizeof exif_mark);
    return;
  }
}

// By how many eighths it can be decoded to be no smaller than the picture.
static unsigned scale(const struct image *image, const struct jpeg_decompress_struct *jpeg) {
  for (unsigned eighths = 1; eighths < 8; eighths *= 2)
    if ((uint64_t)jpeg->image_width * eighths / 8 >= (uint64_t)image->width &&
        (uint64_t)jpeg->image_height * eighths / 8 >= (uint64_t)image->height)
      return eighths;
  return 8;
}

void read_jpeg(struct image *image) {
  struct jpeg_error_mgr errors;
  struct jpeg_decompress_struct jpeg = {.err = jpeg_std_error(&errors)};
  errors.error_exit = fail;
  errors.emit_message = pass_over;
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, image->bytes, image->count);
  jpeg_save_markers(&jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_save_markers(&jpeg, JPEG_APP0 + 2, 0xffff);
  jpeg_read_header(&jpeg, TRUE);
  fit(image, jpeg.image_width, jpeg.image_height);
  take_orientation(image, &jpeg);
  JOCTET *profile;
  unsigned profile_size;
  if (jpeg_read_icc_profile(&jpeg, &profile, &profile_size)) image->profile = profile, image->profile_size = profile_size;

  enum layout layout = RGB;
  switch (jpeg.jpeg_color_space) {
    case JCS_GRAYSCALE: layout = GREY, jpeg.out_color_space = JCS_GRAYSCALE; break;
    case JCS_CMYK: case JCS_YCCK: layout = CMYK, jpeg.out_color_space = JCS_CMYK; break;
    default: jpeg.out_color_space = JCS_RGB;
  }
  jpeg.scale_num = scale(image, &jpeg);
  jpeg.scale_denom = 8;
  jpeg_start_decompress(&jpeg);
  begin(image, (int)jpeg.output_width, (int)jpeg.output_height, layout);
  size_t count = (size_t)jpeg.output_width * (size_t)value_count(layout);
  JSAMPLE *row = kv_memory(count, 1);
  while (jpeg.output_scanline < jpeg.output_height) {
    jpeg_read_scanlines(&jpeg, &row, 1);
    // Adobe's programs, whose mark all have that write CMYK, have it the other way round.
    if (layout == CMYK && jpeg.saw_Adobe_marker)
      for (size_t i = 0; i < count; i++) row[i] = 255 - row[i];
    add_row(image, row);
  }
}
