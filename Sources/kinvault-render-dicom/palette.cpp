#include "palette.hpp"

#include <algorithm>

namespace dicom {

enum : size_t { ENTRY_LIMIT = 65536 };

// A table that is written as steps (PS3.3, C.7.9.2): values, lines from the last value to another, and steps to be taken once more.
class Steps {
 public:
  Steps(Bytes bytes, Table &table, unsigned bits) : bytes(bytes), entries(table.entries), size(bits > 8 ? 2 : 1) {}

  void run() {
    place = 0;
    while (place + 2 * size <= bytes.count && entries.size() < ENTRY_LIMIT)
      if (!step(true)) break;
  }

 private:
  Bytes bytes;
  std::vector<uint16_t> &entries;
  const size_t size;
  size_t place = 0;
  size_t steps = 0;

  uint16_t next() {
    if (place + size > bytes.count) throw Nothing();
    uint16_t number = bytes.start[place];
    if (size == 2) std::memcpy(&number, bytes.start + place, sizeof number);
    place += size;
    return number;
  }

  void add(uint16_t entry) {
    if (entries.size() < ENTRY_LIMIT) entries.push_back(entry);
  }

  // Whether there may be another one: none where the table is full, and no table needs more of them than it has entries.
  bool step(bool may_repeat) {
    if (entries.size() == ENTRY_LIMIT || ++steps > ENTRY_LIMIT) return false;
    const uint16_t kind = next(), count = next();
    if (kind == 0) {
      for (uint16_t i = 0; i < count; i++) add(next());
    } else if (kind == 1) {
      const double from = entries.empty() ? 0 : entries.back(), to = next();
      for (unsigned i = 1; i <= count; i++) add(uint16_t(from + (to - from) * i / count + 0.5));
    } else if (kind == 2 && may_repeat) {
      const size_t low = next(), high = size == 2 ? next() : size_t(next()) | size_t(next()) << 8;
      const size_t start = size == 2 ? low | high << 16 : low | high << 8;
      const size_t after = place;
      place = start;
      for (uint16_t i = 0; i < count; i++)
        if (!step(false)) break;
      place = after;
    } else {
      return false;
    }
    return true;
  }
};

Palette::Palette(const File &file, bool is_signed) {
  for (uint16_t i = 0; i < 3; i++) {
    const Tag descriptor(0x0028, uint16_t(0x1101 + i)), plain(0x0028, uint16_t(0x1201 + i));
    const Bytes steps = bytes_of(file.root(), Tag(0x0028, uint16_t(0x1221 + i)));
    if (std::optional<Table> table = table_of(file.root(), descriptor, plain, is_signed)) {
      tables[i] = *table;
    } else if (steps.count > 0) {
      const uint16_t first = word_of(file.root(), descriptor, 1).value_or(0);
      tables[i].first = is_signed ? double(int16_t(first)) : double(first);
      tables[i].bits = word_of(file.root(), descriptor, 2).value_or(16);
      Steps(steps, tables[i], tables[i].bits).run();
    }
    if (tables[i].entries.empty()) throw Nothing();
    // Some say sixteen bits and have colours of eight.
    const uint16_t highest = *std::max_element(tables[i].entries.begin(), tables[i].entries.end());
    tables[i].bits = highest > 255 ? 16 : 8;
  }
  const unsigned bits = std::max({tables[0].bits, tables[1].bits, tables[2].bits});
  for (Table &table : tables) table.bits = bits;
}

void Palette::put(double stored, uint8_t *colour) const {
  for (size_t i = 0; i < 3; i++) {
    const unsigned entry = unsigned(tables[i].entry(stored));
    colour[i] = uint8_t(tables[i].bits > 8 ? entry >> 8 : entry);
  }
}

}  // namespace dicom
