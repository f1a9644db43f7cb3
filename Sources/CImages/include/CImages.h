#ifndef KINVAULT_IMAGES_H
#define KINVAULT_IMAGES_H

#include "image.h"

/*
 * Images of any size made small, whatever their format: turned as they say that they want to be shown, and in the colours of sRGB.
 * Of what moves the first frame.
 */

struct kv_format {
  /* Whether a file is of it, by its first 12 bytes. */
  bool (*is)(const uint8_t *bytes);
  /* Gives the rows of a page (`image.h`). Ends the process where there is no such page. */
  void (*read)(struct image *image);
  /* How many pages a file has; NULL where that is always one. */
  int (*pages)(const uint8_t *bytes, size_t count);
};

/* The program (`kv_render`) for these formats, the last of which has no functions. */
int kv_render_images(int argc, char **argv, const struct kv_format *known);

/* The picture in sRGB, whatever its colours were. */
uint8_t *in_srgb(const struct image *image);

#endif
