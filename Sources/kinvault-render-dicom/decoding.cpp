#include <algorithm>
#include <sstream>

#include <gdcm-3.0/gdcmJPEG2000Codec.h>
#include <gdcm-3.0/gdcmJPEGCodec.h>
#include <gdcm-3.0/gdcmJPEGLSCodec.h>

#include "frame.hpp"

namespace dicom {

enum : size_t { PIXEL_LIMIT = 200000000 };

// How many pixels a byte can stand for at most: where there are more, most of them are missing, and no memory is taken for them.
enum : size_t {
  // Two bytes for 128 that are equal.
  PIXELS_OF_RUNS = 64,
  // A bit for a block of 64, in the first scan of a progressive one (T.81, G.1.2.1).
  PIXELS_OF_JPEG = 512,
  // A bit for 32,768 of a row that are equal (T.87, A.7.1).
  PIXELS_OF_JPEG_LS = 1 << 18,
  // There is no end to what an empty packet may stand for (T.800, B.10.3). Blank pages have up to half as many.
  PIXELS_OF_JPEG_2000 = 1 << 17,
};

using PI = gdcm::PhotometricInterpretation;

// The library's codecs write as much as the image has that they are given, wherever that goes: so they are asked first what
// that is, and then told that this is what was expected. Values become such of one or two bytes, three of a pixel together.
template <class Codec>
static std::vector<uint8_t> by_library(const std::string &encoded, PixelLayout &layout, size_t pixels_of_byte) {
  gdcm::PixelFormat expected(
      uint16_t(layout.samples), uint16_t(layout.allocated), uint16_t(layout.stored), uint16_t(layout.high),
      layout.is_signed ? 1 : 0);
  const PI colours(layout.samples == 3 ? PI::YBR_FULL : PI::MONOCHROME2);
  Codec first;
  first.SetPhotometricInterpretation(colours);
  first.SetPixelFormat(expected);
  std::istringstream stream(encoded);
  gdcm::TransferSyntax syntax;
  if (!first.GetHeaderInfo(stream, syntax)) throw Nothing();
  const gdcm::PixelFormat found = first.GetPixelFormat();
  const unsigned *size = first.GetDimensions();
  const size_t pixel_count = size_t(size[0]) * size[1];
  if (pixel_count == 0 || pixel_count > std::min<size_t>(PIXEL_LIMIT, encoded.size() * pixels_of_byte)) throw Nothing();
  if (found.GetSamplesPerPixel() != layout.samples || found.GetBitsStored() > 16) throw Nothing();

  Codec second;
  second.SetNumberOfDimensions(2);
  second.SetDimensions(size);
  second.SetPlanarConfiguration(0);
  second.SetPhotometricInterpretation(colours);
  second.SetPixelFormat(found);
  gdcm::Fragment fragment;
  fragment.SetByteValue(encoded.data(), uint32_t(encoded.size()));
  gdcm::SmartPointer<gdcm::SequenceOfFragments> fragments = new gdcm::SequenceOfFragments;
  fragments->AddFragment(fragment);
  gdcm::DataElement in(Tag(0x7fe0, 0x0010)), out;
  in.SetValue(*fragments);
  if (!second.Decode(in, out)) throw Nothing();
  const gdcm::ByteValue *bytes = out.GetByteValue();
  if (bytes == nullptr || bytes->GetPointer() == nullptr) throw Nothing();

  layout.columns = size[0];
  layout.rows = size[1];
  layout.allocated = found.GetBitsStored() > 8 ? 16 : 8;
  layout.stored = std::min<unsigned>(layout.stored, found.GetBitsStored());
  layout.high = layout.stored - 1;
  layout.is_planar = false;
  const uint8_t *start = reinterpret_cast<const uint8_t *>(bytes->GetPointer());
  return {start, start + size_t(bytes->GetLength())};
}

// Into how many tiles a JPEG 2000 says that it is cut (T.800, A.5.1); 0 where it does not say it.
static uint64_t tile_count(const std::string &encoded) {
  const size_t start = encoded.find("\xff\x4f\xff\x51");
  if (start == std::string::npos || encoded.size() - start < 40) return 0;
  const auto number = [&](size_t place) {
    uint64_t number = 0;
    for (size_t i = 0; i < 4; i++) number = number << 8 | uint8_t(encoded[start + place + i]);
    return number;
  };
  const auto count = [&](size_t place) {
    const uint64_t end = number(place), side = number(place + 16), first = number(place + 24);
    return side == 0 || first >= end ? 0 : (end - first + side - 1) / side;
  };
  return count(8) * count(12);
}

// What a JPEG says itself of its colours, by the marks of JFIF and Adobe (T.871, T.872) and the names of its components; nothing
// where the file has to be believed.
static std::optional<Colours> colours_of_jpeg(const std::string &encoded) {
  const auto byte = [&](size_t place) { return place < encoded.size() ? uint8_t(encoded[place]) : 0; };
  std::optional<Colours> found;
  size_t place = 2;
  while (place + 4 < encoded.size() && byte(place) == 0xff) {
    const unsigned mark = byte(place + 1);
    const size_t size = size_t(byte(place + 2)) << 8 | byte(place + 3);
    if (mark == 0xff) {
      place++;
      continue;
    }
    if (mark == 0xe0 && encoded.compare(place + 4, 5, std::string("JFIF\0", 5)) == 0) found = Colours::ybr;
    if (mark == 0xee && size >= 14 && encoded.compare(place + 4, 5, "Adobe") == 0)
      found = byte(place + 15) == 0 ? Colours::rgb : Colours::ybr;
    if (mark == 0xc0 || mark == 0xc1 || mark == 0xc2)
      if (!found && byte(place + 10) == 'R' && byte(place + 13) == 'G' && byte(place + 16) == 'B') found = Colours::rgb;
    // Without loss nobody changes colours, whatever the marks are.
    if (mark == 0xc3) return std::nullopt;
    if (mark == 0xda) break;
    place += 2 + size;
  }
  return found;
}

// PS3.5, annex G: a segment for each byte of each value, the highest first.
static std::vector<uint8_t> by_lengths(const std::string &encoded, PixelLayout &layout) {
  const uint8_t *bytes = reinterpret_cast<const uint8_t *>(encoded.data());
  uint32_t header[16];
  if (encoded.size() < sizeof header || layout.allocated < 8) throw Nothing();
  std::memcpy(header, bytes, sizeof header);
  const size_t size = layout.allocated / 8, pixel_count = layout.columns * layout.rows;
  if (header[0] != size * layout.samples || header[0] > 15) throw Nothing();
  // One segment at least should be able to have them all: others may have been cut off.
  if (pixel_count > (encoded.size() - sizeof header) * PIXELS_OF_RUNS) throw Nothing();
  std::vector<uint8_t> result(pixel_count * layout.samples * size);
  for (size_t segment = 0; segment < header[0]; segment++) {
    const size_t sample = segment / size, byte = size - 1 - segment % size;
    const size_t end = segment + 1 < header[0] ? std::min<size_t>(header[segment + 2], encoded.size()) : encoded.size();
    size_t place = header[segment + 1], pixel = 0;
    const auto put = [&](uint8_t value) { result[(pixel++ * layout.samples + sample) * size + byte] = value; };
    while (place < end && pixel < pixel_count) {
      const int count = int8_t(bytes[place++]);
      if (count >= 0) {
        for (int i = 0; i <= count && place < end && pixel < pixel_count; i++) put(bytes[place++]);
      } else if (count > -128 && place < end) {
        for (int i = 0; i <= -count && pixel < pixel_count; i++) put(bytes[place]);
        place++;
      }
    }
  }
  layout.is_planar = false;
  return result;
}

std::vector<uint8_t> decoded(const std::string &encoded, gdcm::TransferSyntax syntax, PixelLayout &layout) {
  if (encoded.size() < 4 || layout.is_real) throw Nothing();
  if (syntax == gdcm::TransferSyntax::RLELossless) return by_lengths(encoded, layout);
  if (layout.allocated > 16) throw Nothing();
  if (gdcm::JPEG2000Codec().CanDecode(syntax)) {
    // Each has 14 bytes at least (A.4.2, A.4.3), and for each the library takes some thousand before it looks for them.
    if (tile_count(encoded) > encoded.size()) throw Nothing();
    return by_library<gdcm::JPEG2000Codec>(encoded, layout, PIXELS_OF_JPEG_2000);
  }
  if (gdcm::JPEGCodec().CanDecode(syntax)) {
    std::vector<uint8_t> result = by_library<gdcm::JPEGCodec>(encoded, layout, PIXELS_OF_JPEG);
    if (layout.samples == 3) layout.colours = colours_of_jpeg(encoded).value_or(layout.colours);
    return result;
  }
  if (gdcm::JPEGLSCodec().CanDecode(syntax)) return by_library<gdcm::JPEGLSCodec>(encoded, layout, PIXELS_OF_JPEG_LS);
  throw Nothing();
}

}  // namespace dicom
