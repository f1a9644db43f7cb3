#ifndef KINVAULT_DICOM_SHADES_HPP
#define KINVAULT_DICOM_SHADES_HPP

#include "dicom.h"
#include "frame.hpp"

namespace dicom {

// A table of values (PS3.3, C.11.1 and C.11.2).
struct Table {
  // The value that the first entry is for.
  double first = 0;
  unsigned bits = 16;
  std::vector<uint16_t> entries;

  double entry(double value) const;
};

// The table of these two elements; nothing where there is none.
std::optional<Table> table_of(const DataSet &set, Tag descriptor, Tag data, bool is_signed);

// From what is stored to what is shown, of one frame of grey values.
class Shades {
 public:
  // `window` NULL for the file's own.
  Shades(File &file, const Frame &frame, size_t number, const kv_window *window);

  // From black to white, or the other way round where the file wants it.
  uint8_t shade(double stored) const;

  // Through which window the values are shown, or which comes nearest to it.
  kv_window window() const { return shown; }

 private:
  enum class Curve { line, exact_line, sigmoid };

  std::optional<Table> modality, interest;
  double slope = 1, intercept = 0;
  bool is_inverted;
  kv_window shown;
  Curve curve = Curve::line;

  double modality_value(double stored) const;
  bool take_window_of_file(const DataSet &set);
  bool take_table_of_file(File &file);
  void take_range(const File &file, const Frame &frame);
};

}  // namespace dicom

#endif
