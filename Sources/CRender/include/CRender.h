#ifndef KINVAULT_RENDER_H
#define KINVAULT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What the programs that open foreign bytes for `kinvault` have in common. They are in C, since all that they do is done by
 * libraries that are, and each begins anew with every file: what a program is linked with is loaded every time. So there is one
 * for each family of formats, and a letter does not reach what reads discs.
 *
 * Each has one file to do, and is confined: whatever goes wrong ends it with EX_DATAERR, so nothing is cleaned up after an error.
 * No threads, no files.
 */

struct kv_bytes {
  const uint8_t *start;
  size_t count;
};

/* Which grey values of DICOM are shown from black to white, in units of the modality (Hounsfield's in a CT): PS3.3, C.11.2.1.2. */
struct kv_window {
  double centre, width;
};

/* What is asked for when a picture is. */
struct kv_view {
  /* From 1 on. */
  int page;
  /* The picture is no wider and no higher than this many pixels, and never larger than the image is. */
  int side;
  /* NULL for the file's own. Of all else but DICOM it changes nothing. */
  const struct kv_window *window;
};

/* What a program can do. Each function gets all of a file, of which nothing is known. */
struct kv_opener {
  /* Has ready what the pictures need and could not be opened later; NULL where that is nothing. */
  void (*prepare_pictures)(void);
  /* How many pages or frames there are; 0 for bytes that are none of its. */
  int (*pages)(struct kv_bytes file);
  /* WebP. Ends the process where there is no such page. */
  struct kv_bytes (*picture)(struct kv_bytes file, const struct kv_view *view);
  /* The text layer of a document in UTF-8, with a form feed after each page. Ends the process where there is none; NULL where the
     program knows of none. */
  struct kv_bytes (*text)(struct kv_bytes file);
  /* What a file says of itself, in lines. As `text`. */
  void (*prepare_meta)(void);
  struct kv_bytes (*meta)(struct kv_bytes file);
};

/*
 * The program: judges its words, has ready what they need, confines itself (`kv_confine`), says on standard output that from here
 * on there is nothing else that it could do, reads standard input to its end, and writes what it makes of that. Returns what
 * `main` is to return: EX_USAGE, EX_OSERR, EX_IOERR or EX_OK; it does not where a function of the opener has ended the process.
 */
int kv_render(int argc, char **argv, const struct kv_opener *opener);

/* There is nothing to be had of these bytes: ends the process. */
__attribute__((noreturn)) void kv_nothing(void);

/* Memory that is zero, or the end of the process. */
void *kv_memory(size_t count, size_t size);

struct kv_picture {
  int width, height;
  /* Four bytes each, a row after the other: red, green, blue, opacity. */
  uint8_t *pixels;
};

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

/* A picture of rows that are in sRGB and as they want to be shown. */
struct kv_picture kv_rows_fitted(struct kv_rows rows, int side);

/* The WebP of bytes as Cairo has them, without opacity: blue, green, red and one that means nothing, `stride` bytes a row. */
struct kv_bytes kv_webp_of_cairo(const uint8_t *pixels, int width, int height, int stride);

/* With opacity only where something can be seen through. */
struct kv_bytes kv_webp_of_picture(struct kv_picture picture);

#ifdef __cplusplus
}
#endif

#endif
