#include <lcms2.h>
#include <string.h>

#include "CImages.h"

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
  uint8_t *result = kv_memory((size_t)image->width * image->height, 4);
  memset(result, 255, (size_t)image->width * image->height * 4);
  return convert_by_profile(image, result) ? result : plainly_in_srgb(image);
}
