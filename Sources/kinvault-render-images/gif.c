#include <gif_lib.h>
#include <string.h>

#include "formats.h"

static int give(GifFileType *gif, GifByteType *bytes, int count) {
  struct image *image = gif->UserData;
  if (count < 0 || (size_t)count > image->count) return 0;
  memcpy(bytes, image->bytes, (size_t)count);
  image->bytes += count;
  image->count -= (size_t)count;
  return count;
}

// What stands before the first frame says which of its colours is to be seen through; -1 if none.
static int next_frame(GifFileType *gif) {
  int transparent = NO_TRANSPARENT_COLOR;
  for (;;) {
    GifRecordType kind;
    if (DGifGetRecordType(gif, &kind) == GIF_ERROR) kv_nothing();
    if (kind == IMAGE_DESC_RECORD_TYPE) break;
    GifByteType *block;
    int code;
    if (kind != EXTENSION_RECORD_TYPE || DGifGetExtension(gif, &code, &block) == GIF_ERROR) kv_nothing();
    GraphicsControlBlock control;
    if (block != NULL && code == GRAPHICS_EXT_FUNC_CODE && DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
      transparent = control.TransparentColor;
    while (block != NULL)
      if (DGifGetExtensionNext(gif, &block) == GIF_ERROR) kv_nothing();
  }
  if (DGifGetImageDesc(gif) == GIF_ERROR) kv_nothing();
  return transparent;
}

// The rows of an interlaced frame come in four passes.
static int row_place(int number, int height, bool interlaced) {
  static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
  for (int pass = 0; interlaced && pass < 4; pass++) {
    int rows = (height - first[pass] + step[pass] - 1) / step[pass];
    if (number < rows) return first[pass] + number * step[pass];
    number -= rows;
  }
  return number;
}

// The first frame by itself: as a rule it covers the whole.
void read_gif(struct image *image) {
  int error;
  GifFileType *gif = DGifOpen(image, give, &error);
  if (gif == NULL) kv_nothing();
  int transparent = next_frame(gif);
  int width = gif->Image.Width, height = gif->Image.Height;
  fit(image, (uint64_t)(width > 0 ? width : 0), (uint64_t)(height > 0 ? height : 0));
  const ColorMapObject *colours = gif->Image.ColorMap != NULL ? gif->Image.ColorMap : gif->SColorMap;
  if (colours == NULL) kv_nothing();

  uint8_t *frame = kv_memory((size_t)width, (size_t)height);
  for (int y = 0; y < height; y++) {
    uint8_t *row = frame + (size_t)row_place(y, height, gif->Image.Interlace) * (size_t)width;
    if (DGifGetLine(gif, row, width) == GIF_ERROR) kv_nothing();
  }
  begin(image, width, height, RGBA);
  uint8_t *row = kv_memory((size_t)width, 4);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      int index = frame[(size_t)y * (size_t)width + (size_t)x];
      GifColorType colour = index < colours->ColorCount ? colours->Colors[index] : (GifColorType){0, 0, 0};
      uint8_t pixel[] = {colour.Red, colour.Green, colour.Blue, index == transparent ? 0 : 255};
      memcpy(row + 4 * (size_t)x, pixel, 4);
    }
    add_row(image, row);
  }
}
