#ifndef KINVAULT_IMAGES_H
#define KINVAULT_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Rows of bytes that somebody else has. */
struct kv_rows {
  int width, height;
  /* Of a pixel, a byte each: 1 for grey, 3 for red, green and blue. */
  int values;
  /* How much higher than wide a pixel is. */
  double pixel_height;
  /* Puts a row, from 0 on, into these bytes. Asked for each once, from the top. */
  void (*put)(void *source, int row, uint8_t *bytes);
  void *source;
};

/* The same of rows that are in sRGB and as they want to be shown. */
struct kv_picture kv_rows_fitted(struct kv_rows rows, int side);

/* Bytes as Cairo has them, without opacity: blue, green, red and one that means nothing, `stride` bytes a row. */
struct kv_webp {
  uint8_t *bytes;
  size_t count;
};
struct kv_webp kv_webp_of_cairo(const uint8_t *pixels, int width, int height, int stride);

/* With opacity only where something can be seen through. */
struct kv_webp kv_webp_of_picture(struct kv_picture picture);

#ifdef __cplusplus
}
#endif

#endif
