#include "frame.hpp"

#include <algorithm>

namespace dicom {

static const Tag pixels(0x7fe0, 0x0010), reals(0x7fe0, 0x0008), doubles(0x7fe0, 0x0009);

enum : size_t { PIXEL_LIMIT = 200000000, FRAME_LIMIT = 99999 };

static Colours colours_of(const DataSet &set, size_t samples) {
  const std::string name = text_of(set, Tag(0x0028, 0x0004));
  if (samples == 3) return name.rfind("YBR_FULL", 0) == 0 || name.rfind("YBR_PARTIAL", 0) == 0 ? Colours::ybr : Colours::rgb;
  if (name == "MONOCHROME1") return Colours::inverted_grey;
  return name == "PALETTE COLOR" ? Colours::palette : Colours::grey;
}

static void take_kind_of_values(const DataSet &set, PixelLayout &layout) {
  const bool is_float = set.FindDataElement(reals), is_double = set.FindDataElement(doubles);
  layout.is_real = is_float || is_double;
  layout.allocated = is_double ? 64 : is_float ? 32 : word_of(set, Tag(0x0028, 0x0100)).value_or(8);
  switch (layout.allocated) {
    case 1: case 8: case 16: case 32: case 64: break;
    default: throw Nothing();
  }
  layout.stored = word_of(set, Tag(0x0028, 0x0101)).value_or(layout.allocated);
  if (layout.stored < 1 || layout.stored > layout.allocated) layout.stored = layout.allocated;
  layout.high = word_of(set, Tag(0x0028, 0x0102)).value_or(layout.stored - 1);
  if (layout.high >= layout.allocated || layout.high + 1 < layout.stored) layout.high = layout.stored - 1;
  layout.is_signed = word_of(set, Tag(0x0028, 0x0103)).value_or(0) == 1;
}

PixelLayout layout_of(const File &file) {
  const DataSet &set = file.root();
  PixelLayout layout;
  layout.rows = word_of(set, Tag(0x0028, 0x0010)).value_or(0);
  layout.columns = word_of(set, Tag(0x0028, 0x0011)).value_or(0);
  if (layout.rows == 0 || layout.columns == 0 || layout.rows * layout.columns > PIXEL_LIMIT) throw Nothing();
  layout.samples = word_of(set, Tag(0x0028, 0x0002)).value_or(1);
  if (layout.samples != 1 && layout.samples != 3) throw Nothing();
  take_kind_of_values(set, layout);
  // PS3.3, C.7.6.24: real numbers are no colours.
  if (layout.is_real && layout.samples != 1) throw Nothing();
  layout.is_planar = layout.samples == 3 && word_of(set, Tag(0x0028, 0x0006)).value_or(0) == 1;
  layout.colours = colours_of(set, layout.samples);
  const std::string name = text_of(set, Tag(0x0028, 0x0004));
  layout.is_halved = layout.samples == 3 && layout.allocated == 8 && !file.syntax().IsEncapsulated() &&
                     (name == "YBR_FULL_422" || name == "YBR_PARTIAL_422");
  if (layout.is_halved) layout.is_planar = false;
  return layout;
}

static const gdcm::DataElement *pixel_element(const File &file) {
  for (Tag tag : {pixels, reals, doubles})
    if (file.root().FindDataElement(tag)) return &file.root().GetDataElement(tag);
  return nullptr;
}

// Of those whose frames stand one behind the other.
static size_t frame_bits(const PixelLayout &layout) { return layout.value_count() * layout.allocated; }

size_t frame_count(const File &file, const PixelLayout &layout) {
  const gdcm::DataElement *element = pixel_element(file);
  if (element == nullptr) return 0;
  const double said = number_of(file.root(), Tag(0x0028, 0x0008)).value_or(1);
  size_t count = said < 1 ? 1 : said > FRAME_LIMIT ? size_t(FRAME_LIMIT) : size_t(said);
  if (const gdcm::SequenceOfFragments *fragments = element->GetSequenceOfFragments())
    return std::min(count, fragments->GetNumberOfFragments());
  const Bytes bytes = bytes_of(file.root(), element->GetTag());
  // The last one may be cut.
  return std::min(count, (bytes.count * 8 + frame_bits(layout) - 1) / frame_bits(layout));
}

// Where each frame begins in what is compressed, from the beginning of the first fragment's item on.
static std::vector<uint64_t> offsets_of(const File &file, const gdcm::SequenceOfFragments &fragments) {
  std::vector<uint64_t> offsets;
  const Bytes extended = bytes_of(file.root(), Tag(0x7fe0, 0x0001));
  for (size_t i = 0; i + 8 <= extended.count; i += 8) {
    uint64_t offset;
    std::memcpy(&offset, extended.start + i, sizeof offset);
    offsets.push_back(offset);
  }
  const gdcm::ByteValue *table = fragments.GetTable().GetByteValue();
  if (!offsets.empty() || table == nullptr) return offsets;
  for (size_t i = 0; i + 4 <= size_t(table->GetLength()); i += 4) {
    uint32_t offset;
    std::memcpy(&offset, table->GetPointer() + i, sizeof offset);
    offsets.push_back(offset);
  }
  return offsets;
}

static bool begins_image(const gdcm::ByteValue *bytes) {
  if (bytes == nullptr || size_t(bytes->GetLength()) < 4) return false;
  const char *start = bytes->GetPointer();
  return std::memcmp(start, "\xff\xd8\xff", 3) == 0 || std::memcmp(start, "\xff\x4f\xff\x51", 4) == 0;
}

// The bytes of a frame, which may stand in several fragments.
static std::string encoded_frame(const File &file, const gdcm::SequenceOfFragments &fragments, size_t number, size_t frames) {
  const size_t count = fragments.GetNumberOfFragments();
  const std::vector<uint64_t> offsets = offsets_of(file, fragments);
  const bool goes_by_table = offsets.size() >= frames;
  std::string result;
  uint64_t place = 0;
  // How many frames have begun before it.
  size_t begun = 0;
  for (size_t i = 0; i < count; i++) {
    const gdcm::ByteValue *bytes = fragments.GetFragment(i).GetByteValue();
    bool is_of_it;
    if (frames == 1) {
      is_of_it = true;
    } else if (count == frames) {
      is_of_it = i == number;
    } else if (goes_by_table) {
      is_of_it = place >= offsets[number] && (number + 1 == offsets.size() || place < offsets[number + 1]);
    } else {
      if (begins_image(bytes)) begun++;
      is_of_it = begun == number + 1;
    }
    if (bytes == nullptr) continue;
    if (is_of_it) result.append(bytes->GetPointer(), size_t(bytes->GetLength()));
    place += 8 + uint64_t(bytes->GetLength());
  }
  return result;
}

Frame::Frame(const File &file, size_t number) : layout(layout_of(file)) {
  const size_t frames = frame_count(file, layout);
  if (number >= frames) throw Nothing();
  const gdcm::SequenceOfFragments *fragments = pixel_element(file)->GetSequenceOfFragments();
  if (fragments == nullptr) {
    take_plain(file, number);
  } else {
    own = decoded(encoded_frame(file, *fragments, number, frames), file.syntax(), layout);
    bytes = own.data();
    byte_count = own.size();
  }
  mask = layout.stored >= 64 ? ~uint64_t(0) : (uint64_t(1) << layout.stored) - 1;
}

void Frame::take_plain(const File &file, size_t number) {
  const Bytes all = bytes_of(file.root(), pixel_element(file)->GetTag());
  const size_t first = number * frame_bits(layout);
  first_bit = layout.allocated == 1 ? first % 8 : 0;
  bytes = all.start + first / 8;
  byte_count = std::min(all.count - first / 8, (first_bit + frame_bits(layout) + 7) / 8);
  if (layout.is_halved) double_colours();
  // Only words of two bytes were put into this machine's order.
  if (file.syntax() == gdcm::TransferSyntax::ExplicitVRBigEndian && layout.allocated > 16) {
    own.assign(bytes, bytes + byte_count);
    const size_t words = layout.allocated / 16;
    for (size_t i = 0; i + 2 * words <= own.size(); i += 2 * words)
      for (size_t a = 0, b = words - 1; a < b; a++, b--)
        std::swap_ranges(own.begin() + long(i + 2 * a), own.begin() + long(i + 2 * a + 2), own.begin() + long(i + 2 * b));
    bytes = own.data();
  }
}

// Brightness of two pixels, then what colours both have: each gets its own three.
void Frame::double_colours() {
  own.reserve(layout.columns * layout.rows * 3);
  for (size_t i = 0; i + 4 <= byte_count; i += 4)
    for (size_t pixel = 0; pixel < 2; pixel++) own.insert(own.end(), {bytes[i + pixel], bytes[i + 2], bytes[i + 3]});
  bytes = own.data();
  byte_count = own.size();
  layout.is_halved = false;
}

}  // namespace dicom
