#include <iconv.h>

#include <algorithm>
#include <cstdio>

#include "shades.hpp"

// In which characters texts may be written (PS3.3, C.12.1.1.2), and what the C library calls them; the first is for files that
// say nothing. Those of several parts are read by the one that has them all.
static struct {
  const char *term, *name;
  iconv_t converter;
} character_sets[] = {
    {"", "ISO-8859-1", nullptr},           {"100", "ISO-8859-1", nullptr},         {"101", "ISO-8859-2", nullptr},
    {"109", "ISO-8859-3", nullptr},        {"110", "ISO-8859-4", nullptr},         {"144", "ISO-8859-5", nullptr},
    {"127", "ISO-8859-6", nullptr},        {"126", "ISO-8859-7", nullptr},         {"138", "ISO-8859-8", nullptr},
    {"148", "ISO-8859-9", nullptr},        {"203", "ISO-8859-15", nullptr},        {"166", "TIS-620", nullptr},
    {"13", "SHIFT_JIS", nullptr},          {"87", "ISO-2022-JP-2", nullptr},       {"159", "ISO-2022-JP-2", nullptr},
    {"GB18030", "GB18030", nullptr},       {"GBK", "GBK", nullptr},                {"192", "UTF-8", nullptr},
};

void kv_prepare_dicom_texts(void) {
  for (auto &set : character_sets) {
    const iconv_t converter = iconv_open("UTF-8", set.name);
    if (converter != iconv_t(-1)) set.converter = converter;
  }
}

namespace dicom {

// For (0008,0005): the last of its values, "ISO_IR 100" or "ISO 2022 IR 87", by what stands behind the last space.
static iconv_t converter_of(const DataSet &set) {
  std::string terms = whole_text_of(set, Tag(0x0008, 0x0005));
  terms.erase(std::find_if(terms.rbegin(), terms.rend(), [](char c) { return c != ' ' && c != '\0'; }).base(), terms.end());
  const size_t start = terms.find_last_of(" \\");
  const std::string term = start == std::string::npos ? terms : terms.substr(start + 1);
  for (const auto &set : character_sets)
    if (term == set.term) return set.converter;
  return nullptr;
}

// In UTF-8, with signs in the place of what cannot be read, and nothing that is no letter or sign.
static std::string readable(std::string text, iconv_t converter) {
  std::string result;
  char *from = text.data();
  size_t left = text.size();
  while (left > 0) {
    char buffer[512];
    char *to = buffer;
    size_t room = sizeof buffer;
    const size_t outcome = converter == nullptr ? size_t(-1) : iconv(converter, &from, &left, &to, &room);
    result.append(buffer, size_t(to - buffer));
    if (outcome != size_t(-1) || room < sizeof buffer) continue;
    result += uint8_t(*from) < 0x80 ? std::string(1, *from) : "\xef\xbf\xbd";
    from++;
    left--;
  }
  for (char &c : result)
    if (uint8_t(c) < 0x20 || c == 0x7f) c = ' ';
  return result;
}

// Not in the middle of a sign.
static std::string cut(std::string text, size_t limit) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (uint8_t(text[limit]) & 0xc0) == 0x80) limit--;
  return text.substr(0, limit);
}

class Lines {
 public:
  void add(const char *name, const std::string &value) {
    if (!value.empty()) text += std::string(name) + ' ' + value + '\n';
  }
  void add(const char *name, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.10g", value);
    add(name, std::string(digits));
  }
  std::string text;
};

// PS3.5 has twenty signs and more for a number: whole ones are told, if they are as people count.
static void add_number(Lines &lines, const char *name, const DataSet &set, Tag tag) {
  const std::optional<double> number = number_of(set, tag);
  if (number && *number >= 0 && *number <= 1e9 && *number == std::floor(*number)) lines.add(name, *number);
}

// Of a code, a date or a UID: what else stands in it is no such.
static std::string plain(const std::string &text, const char *allowed) {
  return text.size() <= 64 && text.find_first_not_of(allowed) == std::string::npos ? text : std::string();
}

static void add_pixels(Lines &lines, File &file) {
  const PixelLayout layout = layout_of(file);
  const size_t frames = frame_count(file, layout);
  if (frames == 0) return;
  lines.add("rows", double(layout.rows));
  lines.add("columns", double(layout.columns));
  lines.add("frames", double(frames));
  const bool is_grey = layout.samples == 1 && layout.colours != Colours::palette;
  lines.add("grey", is_grey ? 1 : 0);
  if (!is_grey) return;
  const kv_window window = Shades(file, Frame(file, 0), 0, nullptr).window();
  lines.add("centre", window.centre);
  lines.add("width", window.width);
}

static std::string header_of(File &file) {
  const DataSet &set = file.root();
  Lines lines;
  lines.add("modality", plain(text_of(set, Tag(0x0008, 0x0060)), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ "));
  lines.add("date", plain(text_of(set, Tag(0x0008, 0x0020)), "0123456789"));
  lines.add("series", cut(readable(text_of(set, Tag(0x0008, 0x103e)), converter_of(set)), 256));
  add_number(lines, "series-number", set, Tag(0x0020, 0x0011));
  add_number(lines, "instance-number", set, Tag(0x0020, 0x0013));
  lines.add("series-uid", plain(text_of(set, Tag(0x0020, 0x000e)), "0123456789."));
  try {
    add_pixels(lines, file);
  } catch (...) {
    // Then it is not said how they would be shown.
  }
  if (lines.text.empty()) throw Nothing();
  return lines.text;
}

}  // namespace dicom

kv_bytes kv_dicom_header(kv_bytes bytes) {
  try {
    dicom::File file(bytes);
    // For good: the process has one file to do.
    const std::string *text = new std::string(dicom::header_of(file));
    return {reinterpret_cast<const uint8_t *>(text->data()), text->size()};
  } catch (...) {
    kv_nothing();
  }
}
