#include <algorithm>
#include <memory>

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

static kv_bytes picture_of(File &file, const kv_view &view) {
  const size_t number = size_t(view.page - 1);
  const Rows rows(file, number, view.window);
  const auto put = [](void *rows, int row, uint8_t *bytes) { static_cast<const Rows *>(rows)->put(size_t(row), bytes); };
  return kv_webp_of_picture(kv_rows_fitted(
      {int(rows.layout().columns), int(rows.layout().rows), rows.values(), height_of_pixels(file, number), put,
       const_cast<Rows *>(&rows)},
      view.side));
}

}  // namespace dicom

using namespace dicom;

int kv_dicom_frames(kv_bytes bytes) {
  try {
    const File file(bytes);
    return int(frame_count(file, layout_of(file)));
  } catch (...) {
    return 0;
  }
}

kv_bytes kv_dicom_picture(kv_bytes bytes, const kv_view *view) {
  try {
    File file(bytes);
    return picture_of(file, *view);
  } catch (...) {
    kv_nothing();
  }
}
