#ifndef KINVAULT_DICOM_FRAME_HPP
#define KINVAULT_DICOM_FRAME_HPP

#include <cmath>
#include <cstring>

#include "file.hpp"

namespace dicom {

enum class Colours { grey, inverted_grey, palette, rgb, ybr };

// How the pixels of a file are kept.
struct PixelLayout {
  size_t columns = 0, rows = 0;
  // Values of a pixel: 1 or 3.
  size_t samples = 1;
  // Bits of a value, how many of them count, and which of them is the highest.
  unsigned allocated = 8, stored = 8, high = 7;
  bool is_signed = false, is_real = false;
  // All of the first value stand before those of the second.
  bool is_planar = false;
  // Two pixels share their colour (YBR_FULL_422, as it is not compressed).
  bool is_halved = false;
  Colours colours = Colours::grey;

  // Of a frame.
  size_t value_count() const { return columns * rows * (is_halved ? 2 : samples); }
};

// Throws `Nothing` for what is not known here, and for more than 200 million pixels.
PixelLayout layout_of(const File &file);

// How many frames can be asked for: no more than there are bytes for. 0 where there are no pixels.
size_t frame_count(const File &file, const PixelLayout &layout);

// The values of one frame.
class Frame {
 public:
  // From 0 on. Throws `Nothing` where there is no such frame, or it cannot be decoded.
  Frame(const File &file, size_t number);

  PixelLayout layout;

  // A value of a pixel as it is stored.
  double value(size_t pixel, size_t sample = 0) const {
    const size_t place =
        layout.is_planar ? sample * layout.columns * layout.rows + pixel : pixel * layout.samples + sample;
    if (layout.is_real) return real(place);
    const uint64_t bits = raw(place) >> (layout.high + 1 - layout.stored) & mask;
    return is_negative(bits) ? -double((bits ^ mask) + 1) : double(bits);
  }

 private:
  std::vector<uint8_t> own;
  const uint8_t *bytes = nullptr;
  size_t byte_count = 0;
  // Of one bit a value.
  size_t first_bit = 0;
  uint64_t mask = 0;

  void take_plain(const File &file, size_t number);
  void double_colours();

  bool is_negative(uint64_t bits) const { return layout.is_signed && (bits >> (layout.stored - 1) & 1) != 0; }

  // What is missing at the end is zero.
  uint64_t raw(size_t place) const {
    if (layout.allocated == 1) {
      const size_t bit = first_bit + place;
      return bit / 8 < byte_count ? bytes[bit / 8] >> (bit % 8) & 1 : 0;
    }
    const size_t size = layout.allocated / 8;
    uint64_t number = 0;
    if ((place + 1) * size <= byte_count) std::memcpy(&number, bytes + place * size, size);
    return number;
  }

  double real(size_t place) const {
    const uint64_t bits = raw(place);
    if (layout.allocated == 64) {
      double number;
      std::memcpy(&number, &bits, sizeof number);
      return std::isfinite(number) ? number : 0;
    }
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return std::isfinite(number) ? number : 0;
  }
};

// What one frame's bytes become by the library or, of RLE, here. `layout` is made what the values are then.
// Throws `Nothing`.
std::vector<uint8_t> decoded(const std::string &encoded, gdcm::TransferSyntax syntax, PixelLayout &layout);

}  // namespace dicom

#endif
