#include <string.h>
#include <tiffio.h>

#include "formats.h"

// A file in memory.
struct file {
  const uint8_t *bytes;
  uint64_t count, place;
};

static tmsize_t give(thandle_t handle, void *bytes, tmsize_t size) {
  struct file *file = (struct file *)handle;
  uint64_t left = file->place < file->count ? file->count - file->place : 0;
  if ((uint64_t)size > left) size = (tmsize_t)left;
  memcpy(bytes, file->bytes + (left > 0 ? file->place : 0), (size_t)size);
  file->place += (uint64_t)size;
  return size;
}

static tmsize_t refuse(thandle_t handle, void *bytes, tmsize_t size) {
  (void)handle, (void)bytes, (void)size;
  return -1;
}

static toff_t go_to(thandle_t handle, toff_t place, int whence) {
  struct file *file = (struct file *)handle;
  file->place = whence == SEEK_SET ? place : whence == SEEK_CUR ? file->place + place : file->count + place;
  return file->place;
}

static int leave(thandle_t handle) {
  (void)handle;
  return 0;
}

static toff_t size_of(thandle_t handle) { return ((struct file *)handle)->count; }

static int show(thandle_t handle, void **bytes, toff_t *count) {
  struct file *file = (struct file *)handle;
  *bytes = (void *)file->bytes;
  *count = file->count;
  return 1;
}

static void hide(thandle_t handle, void *bytes, toff_t count) { (void)handle, (void)bytes, (void)count; }

// It reads by the file: what is given must last as long.
static TIFF *opened(struct file *file) {
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
  TIFF *tiff = TIFFClientOpen("image", "r", (thandle_t)file, give, refuse, go_to, leave, size_of, show, hide);
  if (tiff == NULL) kv_nothing();
  return tiff;
}

int tiff_pages(const uint8_t *bytes, size_t count) {
  struct file file = {bytes, count, 0};
  return TIFFNumberOfDirectories(opened(&file));
}

void read_tiff(struct image *image) {
  struct file file = {image->bytes, image->count, 0};
  TIFF *tiff = opened(&file);
  if (image->page > UINT16_MAX || !TIFFSetDirectory(tiff, (tdir_t)(image->page - 1))) kv_nothing();
  uint32_t width = 0, height = 0;
  if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height)) kv_nothing();
  fit(image, width, height);
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  image->orientation = orientation;
  uint32_t profile_size;
  void *profile;
  if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &profile_size, &profile)) image->profile = profile, image->profile_size = profile_size;

  // Every kind of TIFF as red, green, blue and opacity. It is turned here, and so must stay as it is.
  TIFFRGBAImage reader;
  char error[1024];
  if (!TIFFRGBAImageBegin(&reader, tiff, 0, error)) kv_nothing();
  reader.orientation = reader.req_orientation = ORIENTATION_TOPLEFT;
  uint32_t *pixels = kv_memory((size_t)width * height, sizeof *pixels);
  if (!TIFFRGBAImageGet(&reader, pixels, width, height)) kv_nothing();
  begin(image, (int)width, (int)height, RGBA);
  uint8_t *row = kv_memory(width, 4);
  for (uint32_t y = 0; y < height; y++) {
    for (uint32_t x = 0; x < width; x++) {
      uint32_t pixel = pixels[(size_t)y * width + x];
      uint32_t alpha = TIFFGetA(pixel);
      // Colours come multiplied by it.
      uint32_t colours[] = {TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)};
      for (int v = 0; v < 3; v++)
        row[4 * x + v] = alpha == 255 || alpha == 0 ? colours[v] : colours[v] >= alpha ? 255 : colours[v] * 255 / alpha;
      row[4 * x + 3] = alpha;
    }
    add_row(image, row);
  }
}
