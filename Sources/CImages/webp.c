#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

#include "image.h"

static WebPData chunk(const WebPDemuxer *file, const char *name) {
  WebPChunkIterator found;
  return WebPDemuxGetChunk(file, name, 1, &found) ? found.chunk : (WebPData){NULL, 0};
}

void read_webp(struct image *image) {
  WebPData bytes = {image->bytes, image->count};
  WebPDemuxer *file = WebPDemux(&bytes);
  WebPIterator frame;
  WebPDecoderConfig config;
  if (file == NULL || !WebPDemuxGetFrame(file, 1, &frame) || !WebPInitDecoderConfig(&config) ||
      WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &config.input) != VP8_STATUS_OK)
    no_picture();
  fit(image, (uint64_t)config.input.width, (uint64_t)config.input.height);
  WebPData profile = chunk(file, "ICCP"), exif = chunk(file, "EXIF");
  image->profile = profile.bytes;
  image->profile_size = profile.size;
  // Some programs leave the mark of JPEG before it.
  size_t mark = exif.size > 6 && memcmp(exif.bytes, "Exif\0", 6) == 0 ? 6 : 0;
  image->orientation = exif_orientation(exif.bytes + mark, exif.size - mark);

  // It makes itself smaller.
  config.options.use_scaling = 1;
  config.options.scaled_width = image->width;
  config.options.scaled_height = image->height;
  config.output.colorspace = config.input.has_alpha ? MODE_RGBA : MODE_RGB;
  if (WebPDecode(frame.fragment.bytes, frame.fragment.size, &config) != VP8_STATUS_OK) no_picture();
  begin(image, image->width, image->height, config.input.has_alpha ? RGBA : RGB);
  const WebPRGBABuffer *rows = &config.output.u.RGBA;
  for (int y = 0; y < image->height; y++) add_row(image, rows->rgba + (ptrdiff_t)y * rows->stride);
}

// Scans are read on them: letters must not blur, and 2 takes half the time of 4 for a tenth more bytes.
static struct kv_webp encoded(WebPPicture *picture) {
  WebPConfig config;
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture->writer = WebPMemoryWrite;
  picture->custom_ptr = &writer;
  if (!WebPConfigPreset(&config, WEBP_PRESET_PHOTO, 80)) no_picture();
  config.method = 2;
  if (!WebPEncode(&config, picture)) no_picture();
  return (struct kv_webp){writer.mem, writer.size};
}

static WebPPicture empty(int width, int height) {
  WebPPicture picture;
  if (!WebPPictureInit(&picture)) no_picture();
  picture.width = width;
  picture.height = height;
  return picture;
}

struct kv_webp kv_webp_of_picture(struct kv_picture pixels) {
  WebPPicture picture = empty(pixels.width, pixels.height);
  if (!WebPPictureImportRGBA(&picture, pixels.pixels, pixels.width * 4)) no_picture();
  return encoded(&picture);
}

struct kv_webp kv_webp_of_cairo(const uint8_t *pixels, int width, int height, int stride) {
  WebPPicture picture = empty(width, height);
  if (!WebPPictureImportBGRX(&picture, pixels, stride)) no_picture();
  return encoded(&picture);
}
