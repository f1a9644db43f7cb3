#include <lcms2.h>
#include <string.h>

#include "image.h"

static cmsUInt32Number values_of(enum layout layout) {
  switch (layout) {
    case GREY: return TYPE_GRAY_8;
    case GREY_ALPHA: return TYPE_GRAYA_8;
    case RGB: return TYPE_RGB_8;
    case RGBA: return TYPE_RGBA_8;
    case CMYK: return TYPE_CMYK_8;
  }
  return 0;
}

static cmsColorSpaceSignature space_of(enum layout layout) {
  switch (layout) {
    case GREY: case GREY_ALPHA: return cmsSigGrayData;
    case RGB: case RGBA: return cmsSigRgbData;
    case CMYK: return cmsSigCmykData;
  }
  return cmsSigRgbData;
}

static void convert_plainly(const struct image *image, uint8_t *result) {
  size_t count = (size_t)image->width * image->height;
  const uint8_t *from = image->pixels;
  for (size_t i = 0; i < count; i++, result += 4, from += value_count(image->layout)) {
    switch (image->layout) {
      case GREY: case GREY_ALPHA: memset(result, from[0], 3); break;
      case RGB: case RGBA: memcpy(result, from, 3); break;
      case CMYK:
        for (int v = 0; v < 3; v++) result[v] = (uint8_t)((255 - from[v]) * (255 - from[3]) / 255);
        break;
    }
    if (image->layout == GREY_ALPHA) result[3] = from[1];
    if (image->layout == RGBA) result[3] = from[3];
  }
}

// Whether the profile is one for these values, and was gone by.
static bool convert_by_profile(const struct image *image, uint8_t *result) {
  if (image->profile == NULL || image->profile_size > UINT32_MAX) return false;
  cmsHPROFILE profile = cmsOpenProfileFromMem(image->profile, (cmsUInt32Number)image->profile_size);
  if (profile == NULL || cmsGetColorSpace(profile) != space_of(image->layout)) return false;
  cmsHTRANSFORM transform = cmsCreateTransform(
      profile, values_of(image->layout), cmsCreate_sRGBProfile(), TYPE_RGBA_8, INTENT_PERCEPTUAL,
      cmsFLAGS_COPY_ALPHA | cmsFLAGS_BLACKPOINTCOMPENSATION);
  if (transform == NULL) return false;
  cmsDoTransform(transform, image->pixels, result, (cmsUInt32Number)(image->width * image->height));
  return true;
}

uint8_t *in_srgb(const struct image *image) {
  size_t count = (size_t)image->width * image->height;
  uint8_t *result = memory(count, 4);
  memset(result, 255, count * 4);
  if (!convert_by_profile(image, result)) convert_plainly(image, result);
  return result;
}
