#ifndef KINVAULT_IMAGE_H
#define KINVAULT_IMAGE_H

#include <stdbool.h>

#include "CRender.h"

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

// The image is of this size: more than 200 million pixels are not decoded. To be said before anything is.
void fit(struct image *image, uint64_t width, uint64_t height);

// So many values has a pixel.
int value_count(enum layout layout);

// Rows of this form will come, from the top; so many, in which a decoder may have made the image smaller already.
void begin(struct image *image, int width, int height, enum layout layout);
void add_row(struct image *image, const uint8_t *row);

// The picture in sRGB, where its values are of that.
uint8_t *plainly_in_srgb(const struct image *image);

#endif
