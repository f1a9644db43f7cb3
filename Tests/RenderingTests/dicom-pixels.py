#!/usr/bin/env python3
"""Writes Fixtures/dicom/pixels: what pydicom and numpy say of the frames of pydicom's own test files.

    dicom-pixels.py FOLDER >Fixtures/dicom/pixels

FOLDER is pydicom's `data`. Needs pydicom 3.0.2, numpy, and pylibjpeg with its three decoders (libjpeg, openjpeg, rle), none of
which share code with GDCM but OpenJPEG. A line is: the file, the frame, width, height, and the averages of 4 x 4 parts of the
frame, row by row, as it is shown: red, green and blue in hexadecimal digits. Left out is what they cannot decode, what has
pixels that are not square, and what is smaller than these parts.
"""

import logging
import sys
import warnings
from pathlib import Path

import numpy
import pydicom
from pydicom.multival import MultiValue
from pydicom.pixels import apply_color_lut, apply_modality_lut, apply_voi_lut

warnings.simplefilter("ignore")
logging.getLogger("pydicom").setLevel(logging.CRITICAL)


def first(value):
    value = value[0] if isinstance(value, MultiValue) else value
    return None if value in (None, "") else float(value)


def shown(dataset, stored):
    """Red, green and blue of a frame."""
    kind = dataset.PhotometricInterpretation
    if kind == "PALETTE COLOR":
        colours = apply_color_lut(stored, dataset)
        return colours >> 8 if colours.max() > 255 else colours
    if stored.ndim == 3:
        return stored * (255 / (2**dataset.BitsStored - 1))
    values = apply_modality_lut(stored, dataset)
    centre, width = first(dataset.get("WindowCenter")), first(dataset.get("WindowWidth"))
    if centre is not None and width is not None:
        exact = dataset.get("VOILUTFunction", "LINEAR") != "LINEAR"
        part = (values - centre) / width if exact else (values - (centre - 0.5)) / (width - 1)
        part = part + 0.5
    elif "VOILUTSequence" in dataset:
        part = apply_voi_lut(values, dataset) / (2 ** dataset.VOILUTSequence[0].LUTDescriptor[2] - 1)
    else:
        seen = values[stored != dataset.PixelPaddingValue] if "PixelPaddingValue" in dataset else values
        low, high = seen.min(), seen.max()
        part = (values - low) / (high - low) if high > low else values * 0 + 0.5
    part = numpy.clip(part, 0, 1)
    if kind == "MONOCHROME1":
        part = 1 - part
    return numpy.repeat(part[..., None] * 255, 3, axis=2)


def averages(picture):
    height, width = picture.shape[:2]
    for row in range(4):
        for column in range(4):
            part = picture[
                row * height // 4 : (row + 1) * height // 4, column * width // 4 : (column + 1) * width // 4
            ]
            yield "%02x%02x%02x" % tuple(int(round(value)) for value in part.reshape(-1, 3).mean(axis=0))


folder = Path(sys.argv[1])
for path in sorted(folder.rglob("*")):
    try:
        dataset = pydicom.dcmread(path, force=True)
        stored = dataset.pixel_array
    except Exception:
        continue
    sides = dataset.get("PixelAspectRatio") or dataset.get("PixelSpacing") or (1, 1)
    if abs(float(sides[0]) / float(sides[1]) - 1) > 0.01:
        continue
    count = int(dataset.get("NumberOfFrames") or 1)
    for number in sorted({1, count}):
        picture = shown(dataset, stored[number - 1] if count > 1 else stored)
        height, width = picture.shape[:2]
        if min(height, width) < 4:
            continue
        print(path.relative_to(folder), number, width, height, *averages(picture.astype(float)))
