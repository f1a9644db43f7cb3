#ifndef KINVAULT_DICOM_H
#define KINVAULT_DICOM_H

#include <CRender.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * DICOM files (PS3.10), by GDCM: frames as pictures, and what a file says of itself. Whatever goes wrong ends the process
 * (`kv_nothing`), and no exception leaves these functions.
 */

/* How many frames it has: 0 if there are none, or these bytes are no DICOM file that can be read. */
int kv_dicom_frames(struct kv_bytes file);

/*
 * A frame as WebP. Grey values are shown through the view's window; without one through the file's own, or its table (VOI LUT), or
 * from the lowest to the highest of the frame. Ends the process where there is no such frame, and where its values are of a kind
 * that is not known.
 */
struct kv_bytes kv_dicom_picture(struct kv_bytes file, const struct kv_view *view);

/*
 * What a file says of itself in lines of UTF-8, a name and a value each; a line is missing where nothing is known.
 * Rendering/DICOMHeader.swift reads them. Nothing of whom it shows is among them. Ends the process where there is nothing.
 */
struct kv_bytes kv_dicom_header(struct kv_bytes file);

/* Has the tables ready by which kv_dicom_header reads texts that are not in UTF-8. To be called while files can be opened. */
void kv_prepare_dicom_texts(void);

#ifdef __cplusplus
}
#endif

#endif
