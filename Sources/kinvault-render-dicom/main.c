// kinvault-render-dicom: DICOM files, by GDCM.
#include "dicom.h"

int main(int argc, char **argv) {
  static const struct kv_opener opener = {
      .pages = kv_dicom_frames,
      .picture = kv_dicom_picture,
      .prepare_meta = kv_prepare_dicom_texts,
      .meta = kv_dicom_header};
  return kv_render(argc, argv, &opener);
}
