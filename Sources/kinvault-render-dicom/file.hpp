#ifndef KINVAULT_DICOM_FILE_HPP
#define KINVAULT_DICOM_FILE_HPP

#include <cstdint>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

#include <gdcm-3.0/gdcmReader.h>
#include <gdcm-3.0/gdcmSequenceOfItems.h>

#include "dicom.h"

namespace dicom {

// There is nothing to be had of this file. Thrown inside of this target only.
struct Nothing {};

// While there is one, a value that is said to have more bytes than this is given no memory, and cannot be read.
class ValueLimit {
 public:
  explicit ValueLimit(size_t count);
  ~ValueLimit();
  ValueLimit(const ValueLimit &) = delete;
};

// Bytes in memory as a stream that is read. They are not copied.
class Memory : public std::streambuf {
 public:
  Memory(const uint8_t *bytes, size_t count);

 protected:
  pos_type seekoff(off_type offset, std::ios_base::seekdir from, std::ios_base::openmode which) override;
  pos_type seekpos(pos_type place, std::ios_base::openmode which) override;
};

using DataSet = gdcm::DataSet;
using Tag = gdcm::Tag;

// The bytes of an element, none where it is missing or empty; binary numbers are in this machine's order.
struct Bytes {
  const uint8_t *start = nullptr;
  size_t count = 0;
};
Bytes bytes_of(const DataSet &set, Tag tag);

// Without the spaces and zeros around it; of several values the first. In whatever characters the file is written.
std::string text_of(const DataSet &set, Tag tag);
// All values, with what stands between them.
std::string whole_text_of(const DataSet &set, Tag tag);

// A number in decimal digits (DS, IS), the first of several.
std::optional<double> number_of(const DataSet &set, Tag tag, size_t index = 0);

// A binary number of two bytes (US).
std::optional<uint16_t> word_of(const DataSet &set, Tag tag, size_t index = 0);

// A file that is open.
class File {
 public:
  // Throws `Nothing` where the bytes do not look like a DICOM file, with its mark at byte 128 or beginning as such a file does
  // without its preamble, or cannot be read as one.
  explicit File(kv_bytes bytes);

  const DataSet &root() const { return reader.GetFile().GetDataSet(); }
  gdcm::TransferSyntax syntax() const { return reader.GetFile().GetHeader().GetDataSetTransferSyntax(); }

  // An item of a sequence, from 0 on; NULL where there is none. It lives as long as the file is open.
  const DataSet *item_of(const DataSet &set, Tag sequence, size_t index = 0);

  // Where the elements of a group stand that may be others for each frame (from 0): in that frame's functional groups, in those
  // of all frames, or else in the file itself.
  const DataSet &set_of(size_t frame, Tag group);

 private:
  size_t most_bytes;
  Memory memory;
  std::istream stream;
  gdcm::Reader reader;
  // Some sequences are parsed when they are asked for.
  std::vector<gdcm::SmartPointer<gdcm::SequenceOfItems>> sequences;
};

}  // namespace dicom

#endif
