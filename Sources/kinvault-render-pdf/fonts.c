#define _GNU_SOURCE
#include "fonts.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include FT_FREETYPE_H

// The families that PDFs rely on (Helvetica, Times, Courier) by those that Debian has for them, of which one is always installed
// with fontconfig; and fontconfig's own rules for which of them stands for what. It reads its caches of these folders.
static const char rules[] =
    "<fontconfig>"
    "<dir>/usr/share/fonts/opentype/urw-base35</dir>"
    "<dir>/usr/share/fonts/truetype/liberation</dir>"
    "<dir>/usr/share/fonts/truetype/liberation2</dir>"
    "<dir>/usr/share/fonts/truetype/dejavu</dir>"
    "<cachedir>/var/cache/fontconfig</cachedir>"
    "<include ignore_missing=\"yes\">/usr/share/fontconfig/conf.avail/30-metric-aliases.conf</include>"
    "<include ignore_missing=\"yes\">/usr/share/fontconfig/conf.avail/45-latin.conf</include>"
    "<include ignore_missing=\"yes\">/usr/share/fontconfig/conf.avail/49-sansserif.conf</include>"
    "<include ignore_missing=\"yes\">/usr/share/fontconfig/conf.avail/60-latin.conf</include>"
    "</fontconfig>";

enum { FONT_LIMIT = 256 };

// The files in memory, for good.
static struct font {
  const char *path;
  void *bytes;
  size_t count;
} fonts[FONT_LIMIT];
static int font_count;

static const struct font *font_at(const char *path) {
  for (int i = 0; i < font_count; i++)
    if (strcmp(fonts[i].path, path) == 0) return &fonts[i];
  return NULL;
}

static void add_font(const char *path) {
  if (font_count == FONT_LIMIT || font_at(path) != NULL) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) return;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    char *name = strdup(path);
    if (bytes != MAP_FAILED && name != NULL) fonts[font_count++] = (struct font){name, bytes, (size_t)status.st_size};
  }
  close(file);
}

int kv_prepare_fonts(void) {
  FcConfig *config = FcConfigCreate();
  if (config == NULL || !FcConfigParseAndLoadFromMemory(config, (const FcChar8 *)rules, FcFalse) ||
      !FcConfigBuildFonts(config) || !FcConfigSetCurrent(config))
    return 0;
  const FcFontSet *found = FcConfigGetFonts(config, FcSetSystem);
  for (int i = 0; found != NULL && i < found->nfont; i++) {
    FcChar8 *path;
    if (FcPatternGetString(found->fonts[i], FC_FILE, 0, &path) == FcResultMatch) add_font((const char *)path);
  }
  return font_count;
}

// Poppler opens a font by its path, first by the one and then by the other of these functions. They stand in the place of those
// of the libraries, for which the program must export them (Scripts/packaging/no-exports.map).

FT_Error FT_New_Face(FT_Library library, const char *path, FT_Long index, FT_Face *face) {
  const struct font *font = font_at(path);
  if (font == NULL) return FT_Err_Cannot_Open_Resource;
  return FT_New_Memory_Face(library, font->bytes, (FT_Long)font->count, index, face);
}

FILE *fopen(const char *path, const char *mode) {
  const struct font *font = font_at(path);
  if (font != NULL) return fmemopen(font->bytes, font->count, "r");
  FILE *(*others)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
  return others == NULL ? NULL : others(path, mode);
}
