#include <stdlib.h>
#include <string.h>

#include "image.h"

// An image becomes smaller as its rows come: each pixel of the picture is the average of the area that it covers, with parts of
// pixels by their parts. No more than a row of the image is held.
struct averaging {
  // Of the rows that come, and how many have.
  int width, height, row;
  // How many of the picture's are finished.
  int finished;
  // Where in a row the pixels of each column of the picture begin and end, and what part of these two is the column's.
  struct column {
    int first, last;
    float first_part, last_part;
  } *columns;
  uint16_t *values;
  // A row of the picture's width, and the sum of those of the picture's row that is being made.
  float *narrow;
  double *sum;
};

enum { PIXEL_LIMIT = 200000000 };

void fit(struct image *image, uint64_t width, uint64_t height) {
  if (width == 0 || height == 0 || width > PIXEL_LIMIT || height > PIXEL_LIMIT / width) kv_nothing();
  uint64_t side = (uint64_t)image->side, longest = width > height ? width : height;
  if (longest > side) {
    width = (width * side + longest / 2) / longest;
    height = (height * side + longest / 2) / longest;
  }
  image->width = width > 0 ? (int)width : 1;
  image->height = height > 0 ? (int)height : 1;
}

int value_count(enum layout layout) {
  switch (layout) {
    case GREY: return 1;
    case GREY_ALPHA: return 2;
    case RGB: return 3;
    case RGBA: case CMYK: return 4;
  }
  abort();
}

static bool has_opacity(enum layout layout) { return layout == GREY_ALPHA || layout == RGBA; }

// Which pixels of the row lie in the part of it that is this column's. In units of 1 / (width * columns) of the row a pixel is
// `columns` wide and a column `width`.
static struct column column(int number, int columns, int width) {
  int64_t from = (int64_t)number * width, to = from + width;
  struct column column = {(int)(from / columns), (int)((to - 1) / columns), 0, 0};
  int64_t first_end = (int64_t)(column.first + 1) * columns;
  column.first_part = (float)((to < first_end ? to : first_end) - from) / (float)columns;
  if (column.last > column.first) column.last_part = (float)(to - (int64_t)column.last * columns) / (float)columns;
  return column;
}

void begin(struct image *image, int width, int height, enum layout layout) {
  // Nothing is made larger: a decoder that has made it smaller has left enough.
  if (width < image->width || height < image->height) kv_nothing();
  size_t values = (size_t)value_count(layout);
  image->layout = layout;
  image->pixels = kv_memory((size_t)image->width * image->height, values);
  struct averaging *averaging = image->averaging = kv_memory(1, sizeof *averaging);
  averaging->width = width;
  averaging->height = height;
  averaging->columns = kv_memory((size_t)image->width, sizeof *averaging->columns);
  for (int x = 0; x < image->width; x++) averaging->columns[x] = column(x, image->width, width);
  averaging->values = kv_memory((size_t)width * values, sizeof *averaging->values);
  averaging->narrow = kv_memory((size_t)image->width * values, sizeof *averaging->narrow);
  averaging->sum = kv_memory((size_t)image->width * values, sizeof *averaging->sum);
}

// The values as they are summed: what is seen through has a colour by its part only.
static void take_values(struct averaging *averaging, const uint8_t *row, size_t values, bool opacity) {
  size_t count = (size_t)averaging->width * values;
  if (!opacity) {
    for (size_t i = 0; i < count; i++) averaging->values[i] = row[i];
    return;
  }
  for (size_t i = 0; i < count; i += values) {
    uint16_t alpha = row[i + values - 1];
    for (size_t v = 0; v < values - 1; v++) averaging->values[i + v] = row[i + v] * alpha;
    averaging->values[i + values - 1] = alpha * 255;
  }
}

static void make_narrow(struct averaging *averaging, int width, size_t values) {
  for (int x = 0; x < width; x++) {
    struct column column = averaging->columns[x];
    const uint16_t *first = averaging->values + (size_t)column.first * values;
    const uint16_t *last = averaging->values + (size_t)column.last * values;
    float *narrow = averaging->narrow + (size_t)x * values;
    for (size_t v = 0; v < values; v++) narrow[v] = first[v] * column.first_part + last[v] * column.last_part;
    for (size_t v = 0; v < values; v++) {
      // A column is no wider than 200 million pixels.
      uint64_t inner = 0;
      for (const uint16_t *pixel = first + values; pixel < last; pixel += values) inner += pixel[v];
      narrow[v] += (float)inner;
    }
  }
}

static uint8_t rounded(double value) { return value >= 255 ? 255 : (uint8_t)(value + 0.5); }

// A row of the picture is all there.
static void finish(struct image *image, size_t values) {
  struct averaging *averaging = image->averaging;
  size_t count = (size_t)image->width * values;
  uint8_t *pixels = image->pixels + (size_t)averaging->finished * count;
  double area = (double)averaging->width / image->width * averaging->height / image->height;
  for (size_t i = 0; i < count; i += values) {
    double *sum = averaging->sum + i;
    if (!has_opacity(image->layout)) {
      for (size_t v = 0; v < values; v++) pixels[i + v] = rounded(sum[v] / area);
      continue;
    }
    double alpha = sum[values - 1];
    for (size_t v = 0; v < values - 1; v++) pixels[i + v] = alpha > 0 ? rounded(sum[v] / alpha * 255) : 0;
    pixels[i + values - 1] = rounded(alpha / area / 255);
  }
  memset(averaging->sum, 0, count * sizeof *averaging->sum);
  averaging->finished++;
}

void add_row(struct image *image, const uint8_t *row) {
  struct averaging *averaging = image->averaging;
  if (averaging->row == averaging->height) return;
  size_t values = (size_t)value_count(image->layout), count = (size_t)image->width * values;
  take_values(averaging, row, values, has_opacity(image->layout));
  make_narrow(averaging, image->width, values);
  // In units of 1 / (rows * rows of the picture): the row lies in one of the picture's, or in two.
  int64_t from = (int64_t)averaging->row++ * image->height, to = from + image->height;
  while (from < to) {
    int64_t end = (int64_t)(averaging->finished + 1) * averaging->height;
    double part = (double)((to < end ? to : end) - from) / image->height;
    for (size_t i = 0; i < count; i++) averaging->sum[i] += averaging->narrow[i] * part;
    from = to < end ? to : end;
    if (from == end) finish(image, values);
  }
}
