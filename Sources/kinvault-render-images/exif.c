#include <string.h>

#include "formats.h"

// A number of this many bytes, in the byte order that the first two bytes say; 0 beyond the end.
static uint32_t number(const uint8_t *bytes, size_t count, size_t place, size_t size) {
  uint32_t value = 0;
  if (place > count || size > count - place) return 0;
  for (size_t i = 0; i < size; i++) value = value << 8 | bytes[place + (bytes[0] == 'I' ? size - 1 - i : i)];
  return value;
}

// EXIF is a TIFF file: the orientation stands in its first directory, as one number of two bytes.
int exif_orientation(const uint8_t *bytes, size_t count) {
  if (count < 8 || (memcmp(bytes, "II*", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) return 0;
  size_t directory = number(bytes, count, 4, 4);
  uint32_t entries = number(bytes, count, directory, 2);
  for (size_t i = 0; i < entries; i++) {
    size_t entry = directory + 2 + 12 * i;
    if (entry + 12 > count) return 0;
    if (number(bytes, count, entry, 2) == 0x0112 && number(bytes, count, entry + 2, 2) == 3)
      return (int)number(bytes, count, entry + 8, 2);
  }
  return 0;
}
