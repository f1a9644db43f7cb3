#include <gdcm-3.0/gdcmByteValue.h>
#include <gdcm-3.0/gdcmParseException.h>

#include "file.hpp"

static size_t most_bytes = SIZE_MAX;

dicom::ValueLimit::ValueLimit(size_t count) { most_bytes = count; }
dicom::ValueLimit::~ValueLimit() { most_bytes = SIZE_MAX; }

// GDCM gives each value as much memory as the file says that it has bytes, and fills all of that with zeros before it finds that
// they are not there: up to a gigabyte for one bit that is wrong. This function stands in the place of the library's, for which
// the program must export it (Scripts/packaging/no-exports.map).
void gdcm::ByteValue::SetLength(VL length) {
  if (length.IsUndefined()) throw Exception("a value whose length is not said");
  if (length > most_bytes) {
    // As for one of an unknown kind: these GDCM 1 wrote with lengths of two bytes, and so the library tries it then.
    DataElement element(Tag(0, 0), length, VR::UN);
    ParseException error;
    error.SetLastElement(element);
    throw error;
  }
  // The library has them even, with a zero behind the last byte.
  Internal.resize(size_t(length) + length % 2);
  Length = length;
}
