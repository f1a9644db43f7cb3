#ifndef KINVAULT_FORMATS_H
#define KINVAULT_FORMATS_H

#include "CImages.h"

void read_jpeg(struct image *image);
void read_png(struct image *image);
void read_webp(struct image *image);
void read_gif(struct image *image);
void read_tiff(struct image *image);

int tiff_pages(const uint8_t *bytes, size_t count);

// What EXIF says of the orientation; 0 if nothing. From the byte order on.
int exif_orientation(const uint8_t *bytes, size_t count);

#endif
