#define _GNU_SOURCE
#include "CRender.h"

#include <CSandbox.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum {
  // As much is read, in bytes.
  INPUT_LIMIT = 64 << 20,
  SIDE_LEAST = 16,
  SIDE_MOST = 2048,
  PAGE_MOST = 99999,
};

void kv_nothing(void) { _exit(EX_DATAERR); }

void *kv_memory(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (memory == NULL) kv_nothing();
  return memory;
}

// What is asked of the program, by its words.
struct request {
  enum { PAGES, PICTURE, TEXT, META } verb;
  struct kv_view view;
  struct kv_window window;
};

static int usage(const char *name, const struct kv_opener *opener) {
  fprintf(stderr,
          "Usage: %1$s pages <FILE\n"
          "       %1$s thumbnail SIDE <FILE\n"
          "       %1$s page NUMBER SIDE [CENTRE WIDTH] <FILE\n",
          name);
  if (opener->text != NULL) fprintf(stderr, "       %s text <FILE\n", name);
  if (opener->meta != NULL) fprintf(stderr, "       %s meta <FILE\n", name);
  fprintf(stderr,
          "SIDE is a number of pixels from %d to %d. CENTRE and WIDTH are of a window of grey values, as 40.0 and 400.0.\n",
          SIDE_LEAST, SIDE_MOST);
  return EX_USAGE;
}

// In digits alone, and as short as it can be.
static bool take_number(const char *word, int least, int most, int *number) {
  if (word[strspn(word, "0123456789")] != 0 || word[0] == '0' || strlen(word) > 5) return false;
  *number = atoi(word);
  return *number >= least && *number <= most;
}

// As Swift writes such a number: digits with a point among them, or with a power of ten below zero.
static bool take_real(const char *word, double *number) {
  const char *digits = word + (word[0] == '-'), *end = digits + strspn(digits, "0123456789");
  bool has_part = end[0] == '.' && end > digits;
  if (has_part) {
    const char *part = end + 1;
    end = part + strspn(part, "0123456789");
    if (end == part) return false;
  }
  bool has_power = end[0] == 'e' && end[1] == '-' && end > digits;
  if (has_power) end += 2 + strspn(end + 2, "0123456789");
  *number = strtod(word, NULL);
  return end[0] == 0 && (has_part || has_power);
}

static bool take_window(char **words, struct request *request) {
  double centre, width;
  if (!take_real(words[0], &centre) || !take_real(words[1], &width)) return false;
  if (centre < -1e9 || centre > 1e9 || width < 1e-9 || width > 1e9) return false;
  request->window = (struct kv_window){centre, width};
  request->view.window = &request->window;
  return true;
}

static bool take_words(int count, char **words, const struct kv_opener *opener, struct request *request) {
  *request = (struct request){.verb = PICTURE, .view = {.page = 1}};
  const char *verb = count > 0 ? words[0] : "";
  if (count == 1) {
    if (strcmp(verb, "pages") == 0) request->verb = PAGES;
    else if (strcmp(verb, "text") == 0 && opener->text != NULL) request->verb = TEXT;
    else if (strcmp(verb, "meta") == 0 && opener->meta != NULL) request->verb = META;
    return request->verb != PICTURE;
  }
  if (strcmp(verb, "thumbnail") == 0 && count == 2)
    return take_number(words[1], SIDE_LEAST, SIDE_MOST, &request->view.side);
  if (strcmp(verb, "page") != 0 || (count != 3 && count != 5)) return false;
  return take_number(words[1], 1, PAGE_MOST, &request->view.page) &&
         take_number(words[2], SIDE_LEAST, SIDE_MOST, &request->view.side) &&
         (count == 3 || take_window(words + 3, request));
}

static void prepare(const struct kv_opener *opener, const struct request *request) {
  if (request->verb == PICTURE && opener->prepare_pictures != NULL) opener->prepare_pictures();
  if (request->verb == META && opener->prepare_meta != NULL) opener->prepare_meta();
}

static bool write_all(const void *bytes, size_t count) {
  for (size_t written = 0; written < count;) {
    ssize_t more = write(STDOUT_FILENO, (const char *)bytes + written, count - written);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    written += (size_t)more;
  }
  return true;
}

// All that comes, or whether it is too much or cannot be read.
static bool read_all(struct kv_bytes *file) {
  uint8_t *bytes = NULL;
  size_t count = 0, room = 0;
  for (;;) {
    if (count == room) {
      room = room == 0 ? 1 << 20 : 2 * room;
      bytes = realloc(bytes, room);
      if (bytes == NULL) return false;
    }
    ssize_t more = read(STDIN_FILENO, bytes + count, room - count);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0 || (count += (size_t)more) > INPUT_LIMIT) return false;
    if (more > 0) continue;
    *file = (struct kv_bytes){bytes, count};
    return true;
  }
}

static struct kv_bytes answer(const struct kv_opener *opener, const struct request *request, struct kv_bytes file) {
  switch (request->verb) {
    case TEXT: return opener->text(file);
    case META: return opener->meta(file);
    case PICTURE: return opener->picture(file, &request->view);
    case PAGES: break;
  }
  static char number[16];
  int count = opener->pages(file);
  if (count <= 0) kv_nothing();
  return (struct kv_bytes){(uint8_t *)number, (size_t)snprintf(number, sizeof number, "%d", count)};
}

int kv_render(int argc, char **argv, const struct kv_opener *opener) {
  static const char greeting[] = "kinvault-render 1\n";
  struct request request;
  if (!take_words(argc - 1, argv + 1, opener, &request)) return usage(program_invocation_short_name, opener);
  prepare(opener, &request);
  if (kv_confine() != 0) return EX_OSERR;
  struct kv_bytes file;
  if (!write_all(greeting, sizeof greeting - 1) || !read_all(&file)) return EX_IOERR;
  struct kv_bytes bytes = answer(opener, &request, file);
  // Without what libraries want to do at the end.
  _exit(write_all(bytes.start, bytes.count) ? EX_OK : EX_IOERR);
}
