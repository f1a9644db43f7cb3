// kinvault-render-heif: pictures in HEVC, as telephones take them, by libheif. Apart from the other images, which its
// libraries would keep waiting: they take longer to load than most photographs to be read.
#include <CImages.h>
#include <libheif/heif.h>
#include <string.h>

// libheif has libde265 begin a thread, does not ask whether there is one, and would wait for its work for good: confined there is
// none. This stands in the place of that library's function, for which the program must export it
// (Scripts/packaging/no-exports.map), and has the decoding done by whoever asks for it.
int de265_start_worker_threads(void *decoder, int count);
int de265_start_worker_threads(void *decoder, int count) {
  (void)decoder, (void)count;
  return 0;
}

static void must(struct heif_error error) {
  if (error.code != heif_error_Ok) kv_nothing();
}

static void read_heif(struct image *image) {
  struct heif_context *file = heif_context_alloc();
  if (file == NULL) kv_nothing();
  heif_context_set_max_decoding_threads(file, 0);
  struct heif_image_handle *handle;
  struct heif_image *decoded;
  must(heif_context_read_from_memory_without_copy(file, image->bytes, image->count, NULL));
  must(heif_context_get_primary_image_handle(file, &handle));
  int width = heif_image_handle_get_width(handle), height = heif_image_handle_get_height(handle);
  fit(image, (uint64_t)(width > 0 ? width : 0), (uint64_t)(height > 0 ? height : 0));
  image->profile_size = heif_image_handle_get_raw_color_profile_size(handle);
  if (image->profile_size > 0) {
    void *profile = kv_memory(image->profile_size, 1);
    must(heif_image_handle_get_raw_color_profile(handle, profile));
    image->profile = profile;
  }
  // It is turned by the library: EXIF says no more what to do (ISO/IEC 23008-12).
  bool opacity = heif_image_handle_has_alpha_channel(handle);
  enum heif_chroma kind = opacity ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  must(heif_decode_image(handle, &decoded, heif_colorspace_RGB, kind, NULL));
  int stride;
  const uint8_t *rows = heif_image_get_plane_readonly(decoded, heif_channel_interleaved, &stride);
  width = heif_image_get_width(decoded, heif_channel_interleaved);
  height = heif_image_get_height(decoded, heif_channel_interleaved);
  if (rows == NULL) kv_nothing();
  begin(image, width, height, opacity ? RGBA : RGB);
  for (int y = 0; y < height; y++) add_row(image, rows + (size_t)y * (size_t)stride);
}

static bool is_heif(const uint8_t *bytes) {
  static const char *const brands[] = {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1"};
  if (memcmp(bytes + 4, "ftyp", 4) != 0) return false;
  for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
    if (memcmp(bytes + 8, brands[i], 4) == 0) return true;
  return false;
}

int main(int argc, char **argv) {
  static const struct kv_format formats[] = {{is_heif, read_heif, NULL}, {NULL, NULL, NULL}};
  return kv_render_images(argc, argv, formats);
}
