#include <webp/encode.h>

#include "CRender.h"

// Scans are read on them: letters must not blur, and 2 takes half the time of 4 for a tenth more bytes.
static struct kv_bytes encoded(WebPPicture *picture) {
  WebPConfig config;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture->writer = WebPMemoryWrite;
  picture->custom_ptr = &writer;
  if (!WebPConfigPreset(&config, WEBP_PRESET_PHOTO, 80)) kv_nothing();
  config.method = 2;
  if (!WebPEncode(&config, picture)) kv_nothing();
  return (struct kv_bytes){writer.mem, writer.size};
}

static WebPPicture empty(int width, int height) {
  WebPPicture picture;
  if (!WebPPictureInit(&picture)) kv_nothing();
  picture.width = width;
  picture.height = height;
  return picture;
}

struct kv_bytes kv_webp_of_picture(struct kv_picture pixels) {
  WebPPicture picture = empty(pixels.width, pixels.height);
  if (!WebPPictureImportRGBA(&picture, pixels.pixels, pixels.width * 4)) kv_nothing();
  return encoded(&picture);
}

struct kv_bytes kv_webp_of_cairo(const uint8_t *pixels, int width, int height, int stride) {
  WebPPicture picture = empty(width, height);
  if (!WebPPictureImportBGRX(&picture, pixels, stride)) kv_nothing();
  return encoded(&picture);
}
