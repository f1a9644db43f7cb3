#include <sysexits.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include <gdcm-3.0/gdcmTrace.h>

#include "palette.hpp"

namespace dicom {

// Rows of a frame as bytes, one after the other.
class Rows {
 public:
  Rows(File &file, size_t number, const kv_window *window) : frame(file, number) {
    const PixelLayout &layout = frame.layout;
    if (layout.colours == Colours::palette) {
      palette = std::make_unique<Palette>(file, layout.is_signed);
    } else if (layout.samples == 1) {
      shades = std::make_unique<Shades>(file, frame, number, window);
      take_shades();
    }
  }

  const PixelLayout &layout() const { return frame.layout; }
  int values() const { return shades ? 1 : 3; }

  void put(size_t row, uint8_t *bytes) const noexcept {
    const size_t width = layout().columns;
    for (size_t column = 0; column < width; column++) {
      const size_t pixel = row * width + column;
      if (shades) {
        bytes[column] = shade(frame.value(pixel));
      } else if (palette) {
        palette->put(frame.value(pixel), bytes + 3 * column);
      } else {
        put_colour(pixel, bytes + 3 * column);
      }
    }
  }

 private:
  Frame frame;
  std::unique_ptr<Palette> palette;
  std::unique_ptr<Shades> shades;
  // Of all values that there can be, where these are few.
  std::vector<uint8_t> known;
  double lowest = 0;

  void take_shades() {
    if (layout().is_real || layout().stored > 16) return;
    const size_t count = size_t(1) << layout().stored;
    if (count > layout().columns * layout().rows) return;
    lowest = layout().is_signed ? -double(count / 2) : 0;
    known.resize(count);
    for (size_t i = 0; i < count; i++) known[i] = shades->shade(lowest + double(i));
  }

  uint8_t shade(double stored) const { return known.empty() ? shades->shade(stored) : known[size_t(stored - lowest)]; }

  void put_colour(size_t pixel, uint8_t *colour) const {
    double values[3];
    const double highest = std::exp2(layout().stored) - 1;
    for (size_t i = 0; i < 3; i++) values[i] = frame.value(pixel, i) * 255 / highest;
    if (layout().colours == Colours::ybr) {
      // PS3.3, C.7.6.3.1.2, which is as in T.871.
      const double y = values[0], b = values[1] - 128, r = values[2] - 128;
      values[0] = y + 1.402 * r;
      values[1] = y - 0.344136 * b - 0.714136 * r;
      values[2] = y + 1.772 * b;
    }
    for (size_t i = 0; i < 3; i++) colour[i] = uint8_t(std::clamp(values[i], 0.0, 255.0) + 0.5);
  }
};

// How much higher than wide a pixel is.
static double height_of_pixels(File &file, size_t number) {
  std::optional<double> height, width;
  const DataSet &measures = file.set_of(number, Tag(0x0028, 0x9110));
  for (const auto &[set, tag] : {
           std::pair(&file.root(), Tag(0x0028, 0x0034)), std::pair(&measures, Tag(0x0028, 0x0030)),
           std::pair(&file.root(), Tag(0x0018, 0x1164)), std::pair(&file.root(), Tag(0x0018, 0x2010))}) {
    height = number_of(*set, tag, 0);
    width = number_of(*set, tag, 1);
    if (height && width && *height > 0 && *width > 0) break;
  }
  const double ratio = height.value_or(1) / width.value_or(1);
  // What is nearly square is a number that was rounded, and what is far from it is an error.
  return ratio > 0.1 && ratio < 10 && std::abs(ratio - 1) > 0.01 ? ratio : 1;
}

static kv_picture fitted(const uint8_t *bytes, size_t count, int number, int side, const kv_window *window) {
  File file(bytes, count);
  if (number < 1) throw Nothing();
  const Rows rows(file, size_t(number - 1), window);
  const auto put = [](void *rows, int row, uint8_t *bytes) { static_cast<const Rows *>(rows)->put(size_t(row), bytes); };
  return kv_rows_fitted(
      {int(rows.layout().columns), int(rows.layout().rows), rows.values(), height_of_pixels(file, size_t(number - 1)), put,
       const_cast<Rows *>(&rows)},
      side);
}

}  // namespace dicom

using namespace dicom;

// What the library has to say is for nobody.
static void be_silent() {
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
}

static unsigned word(const uint8_t *bytes) { return bytes[0] | unsigned(bytes[1]) << 8; }

bool kv_is_dicom(const uint8_t *bytes, size_t count) {
  if (count >= 132 && std::memcmp(bytes + 128, "DICM", 4) == 0) return true;
  if (count < 132) return false;
  const auto is_letter = [](uint8_t byte) { return byte >= 'A' && byte <= 'Z'; };
  const bool has_kind = is_letter(bytes[4]) && is_letter(bytes[5]);
  const bool is_short = bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0;
  // Group 0002 or 0008, with a low element.
  if ((word(bytes) == 2 || word(bytes) == 8) && word(bytes + 2) < 0x20) return has_kind || is_short;
  return bytes[0] == 0 && bytes[1] == 8 && bytes[2] == 0 && bytes[3] < 0x20 && has_kind;
}

int kv_dicom_frames(const uint8_t *bytes, size_t count) {
  if (!kv_is_dicom(bytes, count)) return 0;
  try {
    be_silent();
    const File file(bytes, count);
    return int(frame_count(file, layout_of(file)));
  } catch (...) {
    return 0;
  }
}

struct kv_picture kv_dicom_fitted(const uint8_t *bytes, size_t count, int frame, int side, const struct kv_window *window) {
  try {
    be_silent();
    return fitted(bytes, count, frame, side, window);
  } catch (...) {
    _exit(EX_DATAERR);
  }
}
