#ifndef KINVAULT_IMAGE_H
#define KINVAULT_IMAGE_H

#include <stdbool.h>

#include "CImages.h"

// What the values of a pixel are, a byte each.
enum layout { GREY, GREY_ALPHA, RGB, RGBA, CMYK };

// One image on its way to be a picture. A decoder first says how large it is (`fit`), then how its rows are (`begin`), then
// gives each of them (`add_row`).
struct image {
  const uint8_t *bytes;
  size_t count;
  int page;
  int side;
  // What it is to become, before it is turned.
  int width, height;
  uint8_t *pixels;
  enum layout layout;
  // As EXIF has it, from 1 to 8; 0 is no other than 1.
  int orientation;
  // What its colours mean (ICC); of sRGB where there is none.
  const void *profile;
  size_t profile_size;
  struct averaging *averaging;
};

// There is no picture of these bytes: ends the process.
_Noreturn void no_picture(void);

// Memory that is zero, or the end of the process.
void *memory(size_t count, size_t size);

// The image is of this size: more than 200 million pixels are not decoded. To be said before anything is.
void fit(struct image *image, uint64_t width, uint64_t height);

// So many values has a pixel.
int value_count(enum layout layout);

// Rows of this form will come, from the top; so many, in which a decoder may have made the image smaller already.
void begin(struct image *image, int width, int height, enum layout layout);
void add_row(struct image *image, const uint8_t *row);

// What EXIF says of the orientation; 0 if nothing. From the byte order on.
int exif_orientation(const uint8_t *bytes, size_t count);

// The picture in sRGB, whatever its colours were.
uint8_t *in_srgb(const struct image *image);

void read_jpeg(struct image *image);
void read_png(struct image *image);
void read_webp(struct image *image);
void read_gif(struct image *image);
void read_tiff(struct image *image);
void read_heif(struct image *image);

int tiff_pages(const uint8_t *bytes, size_t count);

#endif
