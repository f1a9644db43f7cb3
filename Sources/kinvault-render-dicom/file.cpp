#include "file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include <gdcm-3.0/gdcmTrace.h>

namespace dicom {

Memory::Memory(const uint8_t *bytes, size_t count) {
  // It is only read.
  char *start = const_cast<char *>(reinterpret_cast<const char *>(bytes));
  setg(start, start, start + count);
}

Memory::pos_type Memory::seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode) {
  const off_type size = egptr() - eback();
  const off_type base = from == std::ios_base::beg ? 0 : from == std::ios_base::cur ? gptr() - eback() : size;
  if (offset < -base || offset > size - base) return pos_type(off_type(-1));
  setg(eback(), eback() + base + offset, egptr());
  return pos_type(base + offset);
}

Memory::pos_type Memory::seekpos(pos_type place, std::ios_base::openmode which) {
  return seekoff(off_type(place), std::ios_base::beg, which);
}

Bytes bytes_of(const DataSet &set, Tag tag) {
  if (!set.FindDataElement(tag)) return {};
  const gdcm::ByteValue *value = set.GetDataElement(tag).GetByteValue();
  if (value == nullptr || value->GetPointer() == nullptr) return {};
  return {reinterpret_cast<const uint8_t *>(value->GetPointer()), size_t(value->GetLength())};
}

std::string whole_text_of(const DataSet &set, Tag tag) {
  const Bytes bytes = bytes_of(set, tag);
  return std::string(reinterpret_cast<const char *>(bytes.start), bytes.count);
}

// Of values that stand behind one another, with a \ between them.
static std::string part(const std::string &text, size_t index) {
  size_t start = 0;
  for (; index > 0; index--) {
    const size_t end = text.find('\\', start);
    if (end == std::string::npos) return {};
    start = end + 1;
  }
  std::string part = text.substr(start, text.find('\\', start) - start);
  const std::string padding(" \0", 2);
  const size_t first = part.find_first_not_of(padding);
  if (first == std::string::npos) return {};
  return part.substr(first, part.find_last_not_of(padding) - first + 1);
}

std::string text_of(const DataSet &set, Tag tag) { return part(whole_text_of(set, tag), 0); }

std::optional<double> number_of(const DataSet &set, Tag tag, size_t index) {
  const std::string text = part(whole_text_of(set, tag), index);
  char *end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || end == text.c_str() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<uint16_t> word_of(const DataSet &set, Tag tag, size_t index) {
  const Bytes bytes = bytes_of(set, tag);
  if (bytes.count / 2 <= index) return std::nullopt;
  uint16_t word;
  std::memcpy(&word, bytes.start + 2 * index, sizeof word);
  return word;
}

static unsigned word(const uint8_t *bytes) { return bytes[0] | unsigned(bytes[1]) << 8; }

static bool is_dicom(const uint8_t *bytes, size_t count) {
  if (count < 132) return false;
  if (std::memcmp(bytes + 128, "DICM", 4) == 0) return true;
  const auto is_letter = [](uint8_t byte) { return byte >= 'A' && byte <= 'Z'; };
  const bool has_kind = is_letter(bytes[4]) && is_letter(bytes[5]);
  const bool is_short = bytes[5] == 0 && bytes[6] == 0 && bytes[7] == 0;
  // Group 0002 or 0008, with a low element.
  if ((word(bytes) == 2 || word(bytes) == 8) && word(bytes + 2) < 0x20) return has_kind || is_short;
  return bytes[0] == 0 && bytes[1] == 8 && bytes[2] == 0 && bytes[3] < 0x20 && has_kind;
}

// Whether all but the beginning is compressed (PS3.5, A.5). That is said in one of the first elements.
static bool is_deflated(kv_bytes bytes) {
  const char syntax[] = "1.2.840.10008.1.2.1.99";
  const uint8_t *end = bytes.start + std::min<size_t>(bytes.count, 4096);
  return std::search(bytes.start, end, syntax, syntax + std::strlen(syntax)) != end;
}

// No more than 258 bytes become of two bits (RFC 1951). Where nothing is compressed the end of the pixels may be missing, and
// what there is of them is shown; but a 64th at least there must be.
static size_t longest_value(kv_bytes bytes) { return bytes.count * (is_deflated(bytes) ? 1032 : 64); }

File::File(kv_bytes bytes) : most_bytes(longest_value(bytes)), memory(bytes.start, bytes.count), stream(&memory) {
  if (!is_dicom(bytes.start, bytes.count)) throw Nothing();
  // What the library has to say is for nobody.
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
  reader.SetStream(stream);
  const ValueLimit limit(most_bytes);
  if (!reader.Read()) throw Nothing();
}

const DataSet *File::item_of(const DataSet &set, Tag sequence, size_t index) {
  if (!set.FindDataElement(sequence)) return nullptr;
  const ValueLimit limit(most_bytes);
  gdcm::SmartPointer<gdcm::SequenceOfItems> items = set.GetDataElement(sequence).GetValueAsSQ();
  if (!items || index >= items->GetNumberOfItems()) return nullptr;
  const DataSet *item = &items->GetItem(index + 1).GetNestedDataSet();
  sequences.push_back(items);
  return item;
}

const DataSet &File::set_of(size_t frame, Tag group) {
  const Tag of_each_frame(0x5200, 0x9230), of_all_frames(0x5200, 0x9229);
  for (const DataSet *groups : {item_of(root(), of_each_frame, frame), item_of(root(), of_all_frames)}) {
    const DataSet *found = groups == nullptr ? nullptr : item_of(*groups, group);
    if (found != nullptr) return *found;
  }
  return root();
}

}  // namespace dicom
