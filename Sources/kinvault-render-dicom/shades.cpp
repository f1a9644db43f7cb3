#include "shades.hpp"

#include <algorithm>

namespace dicom {

double Table::entry(double value) const {
  const double place = std::clamp(std::floor(value - first), 0.0, double(entries.size() - 1));
  return entries[size_t(place)];
}

std::optional<Table> table_of(const DataSet &set, Tag descriptor, Tag data, bool is_signed) {
  const Bytes bytes = bytes_of(set, data);
  const std::optional<uint16_t> count = word_of(set, descriptor, 0), first = word_of(set, descriptor, 1);
  if (bytes.count < 2 || !count || !first) return std::nullopt;
  Table table;
  table.first = is_signed ? double(int16_t(*first)) : double(*first);
  table.bits = std::clamp<unsigned>(word_of(set, descriptor, 2).value_or(16), 1, 16);
  const size_t wanted = *count == 0 ? 65536 : *count;
  // Entries of eight bits stand two in a word, or one where there is room for it.
  const bool is_packed = bytes.count < 2 * wanted;
  for (size_t i = 0; i < std::min(wanted, is_packed ? bytes.count : bytes.count / 2); i++) {
    uint16_t entry = bytes.start[i];
    if (!is_packed) std::memcpy(&entry, bytes.start + 2 * i, sizeof entry);
    table.entries.push_back(entry);
  }
  return table;
}

static const Tag descriptor(0x0028, 0x3002), data(0x0028, 0x3006);

Shades::Shades(File &file, const Frame &frame, size_t number, const kv_window *window) {
  const DataSet &root = file.root();
  is_inverted = frame.layout.colours == Colours::inverted_grey;
  if (const DataSet *item = file.item_of(root, Tag(0x0028, 0x3000)))
    modality = table_of(*item, descriptor, data, frame.layout.is_signed);
  const DataSet &values = file.set_of(number, Tag(0x0028, 0x9145));
  slope = number_of(values, Tag(0x0028, 0x1053)).value_or(1);
  intercept = number_of(values, Tag(0x0028, 0x1052)).value_or(0);
  if (slope == 0) slope = 1;

  const bool has_window = take_window_of_file(file.set_of(number, Tag(0x0028, 0x9132)));
  if (window != nullptr) {
    shown = *window;
  } else if (!has_window && !take_table_of_file(file)) {
    take_range(file, frame);
  }
}

bool Shades::take_window_of_file(const DataSet &set) {
  const std::optional<double> centre = number_of(set, Tag(0x0028, 0x1050)), width = number_of(set, Tag(0x0028, 0x1051));
  const std::string name = text_of(set, Tag(0x0028, 0x1056));
  curve = name == "SIGMOID" ? Curve::sigmoid : name == "LINEAR_EXACT" ? Curve::exact_line : Curve::line;
  if (!centre || !width || *width <= 0) return false;
  shown = {*centre, *width};
  return true;
}

bool Shades::take_table_of_file(File &file) {
  const DataSet *item = file.item_of(file.root(), Tag(0x0028, 0x3010));
  if (item == nullptr) return false;
  const bool is_signed = item->FindDataElement(descriptor) && item->GetDataElement(descriptor).GetVR() == gdcm::VR::SS;
  interest = table_of(*item, descriptor, data, is_signed || intercept < 0);
  if (!interest) return false;
  const double count = double(interest->entries.size());
  shown = {interest->first + count / 2, count};
  return true;
}

// From the lowest to the highest value, without those that say that nothing was there.
void Shades::take_range(const File &file, const Frame &frame) {
  const PixelLayout &layout = frame.layout;
  const auto word = [&](Tag tag) -> std::optional<double> {
    const std::optional<uint16_t> word = word_of(file.root(), tag);
    if (!word) return std::nullopt;
    return layout.is_signed ? double(int16_t(*word)) : double(*word);
  };
  const std::optional<double> padding = word(Tag(0x0028, 0x0120)), limit = word(Tag(0x0028, 0x0121));
  const double from = std::min(padding.value_or(0), limit.value_or(padding.value_or(0)));
  const double to = std::max(padding.value_or(0), limit.value_or(padding.value_or(0)));
  double lowest = INFINITY, highest = -INFINITY;
  for (size_t pixel = 0; pixel < layout.columns * layout.rows; pixel++) {
    const double stored = frame.value(pixel);
    if (padding && stored >= from && stored <= to) continue;
    lowest = std::min(lowest, stored);
    highest = std::max(highest, stored);
  }
  if (lowest > highest) lowest = highest = 0;
  double low = modality_value(lowest), high = modality_value(highest);
  if (low > high) std::swap(low, high);
  curve = Curve::exact_line;
  shown = {(low + high) / 2, high > low ? high - low : 1};
}

double Shades::modality_value(double stored) const {
  // What is infinite could not be compared with what is so, too.
  return modality ? modality->entry(stored) : std::clamp(stored * slope + intercept, -1e300, 1e300);
}

uint8_t Shades::shade(double stored) const {
  const double value = modality_value(stored);
  double part;
  if (interest) {
    part = interest->entry(value) / double((1u << interest->bits) - 1);
  } else if (curve == Curve::sigmoid) {
    part = 1 / (1 + std::exp(-4 * (value - shown.centre) / shown.width));
  } else if (curve == Curve::line && shown.width >= 1) {
    part = shown.width > 1 ? (value - (shown.centre - 0.5)) / (shown.width - 1) + 0.5 : value > shown.centre - 0.5 ? 1 : 0;
  } else {
    part = (value - shown.centre) / shown.width + 0.5;
  }
  if (is_inverted) part = 1 - part;
  return uint8_t(std::clamp(part, 0.0, 1.0) * 255 + 0.5);
}

}  // namespace dicom
