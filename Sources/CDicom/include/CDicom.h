#ifndef KINVAULT_DICOM_H
#define KINVAULT_DICOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CImages.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DICOM files (PS3.10), by GDCM: frames as pictures, and what a file says of itself. For a process that has one file to do, and
 * is confined: whatever goes wrong ends it with EX_DATAERR, and no exception leaves these functions. No threads, no files.
 */

/* Which values are shown from black to white, in units of the modality (Hounsfield's in a CT): PS3.3, C.11.2.1.2. */
struct kv_window {
  double centre, width;
};

/* Whether these bytes look like a DICOM file: with its mark at byte 128, or beginning as such a file does without its preamble. */
bool kv_is_dicom(const uint8_t *bytes, size_t count);

/* How many frames it has: 0 if there are none, or these bytes are no DICOM file that can be read. */
int kv_dicom_frames(const uint8_t *bytes, size_t count);

/*
 * A frame (from 1), as kv_image_fitted makes pictures of images. Grey values are shown through the window; without one (NULL)
 * through the file's own, or its table (VOI LUT), or from the lowest to the highest of the frame. Ends the process where there
 * is no such frame, and where its values are of a kind that is not known.
 */
struct kv_picture kv_dicom_fitted(const uint8_t *bytes, size_t count, int frame, int side, const struct kv_window *window);

struct kv_text {
  const char *bytes;
  size_t count;
};

/*
 * What a file says of itself in lines of UTF-8, a name and a value each; a line is missing where nothing is known.
 * Rendering/DICOMHeader.swift reads them. Nothing of whom it shows is among them. Ends the process where there is nothing.
 */
struct kv_text kv_dicom_header(const uint8_t *bytes, size_t count);

/* Has the tables ready by which kv_dicom_header reads texts that are not in UTF-8. To be called while files can be opened. */
void kv_prepare_dicom_texts(void);

#ifdef __cplusplus
}
#endif

#endif
