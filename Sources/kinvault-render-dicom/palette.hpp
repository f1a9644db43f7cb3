#ifndef KINVAULT_DICOM_PALETTE_HPP
#define KINVAULT_DICOM_PALETTE_HPP

#include "shades.hpp"

namespace dicom {

// The colours of a file whose pixels are numbers of colours.
class Palette {
 public:
  // Throws `Nothing` where it has none.
  explicit Palette(const File &file, bool is_signed);

  // Red, green and blue.
  void put(double stored, uint8_t *colour) const;

 private:
  Table tables[3];
};

}  // namespace dicom

#endif
