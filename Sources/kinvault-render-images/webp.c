#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

#include "formats.h"

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
    kv_nothing();
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
  if (WebPDecode(frame.fragment.bytes, frame.fragment.size, &config) != VP8_STATUS_OK) kv_nothing();
  begin(image, image->width, image->height, config.input.has_alpha ? RGBA : RGB);
  const WebPRGBABuffer *rows = &config.output.u.RGBA;
  for (int y = 0; y < image->height; y++) add_row(image, rows->rgba + (ptrdiff_t)y * rows->stride);
}
