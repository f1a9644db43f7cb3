#ifndef KINVAULT_IMAGES_H
#define KINVAULT_IMAGES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Images of any size made small, by the libraries of their formats: JPEG, PNG, WebP, GIF, TIFF and HEIF. For a process that has
 * one image to do, and is confined: whatever goes wrong ends it with EX_DATAERR, so nothing is cleaned up after an error.
 * No threads, no files.
 */

struct kv_picture {
  int width, height;
  /* Four bytes each, a row after the other: red, green, blue, opacity. */
  uint8_t *pixels;
};

/* How many pages an image has: 0 if these bytes are none that is known here, 1 of all but TIFF. */
int kv_image_pages(const uint8_t *bytes, size_t count);

/*
 * A page of an image (from 1), no wider and no higher than `side` pixels and never larger than it is, turned as it says that it
 * wants to be shown, in the colours of sRGB. Of what moves the first frame. Ends the process where there is no such page.
 */
struct kv_picture kv_image_fitted(const uint8_t *bytes, size_t count, int page, int side);

/* Bytes as Cairo has them, without opacity: blue, green, red and one that means nothing, `stride` bytes a row. */
struct kv_webp {
  uint8_t *bytes;
  size_t count;
};
struct kv_webp kv_webp_of_cairo(const uint8_t *pixels, int width, int height, int stride);

/* With opacity only where something can be seen through. */
struct kv_webp kv_webp_of_picture(struct kv_picture picture);

#endif
