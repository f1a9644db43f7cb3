#define _GNU_SOURCE
#include "CFullText.h"

#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The longest word that is kept whole; the rest of a longer one is passed over. SQLite itself cuts at 32 KiB.
enum { word_limit = 256 };

typedef int (*fts5_word)(void *, int, const char *, int, int, int);

struct kv_words {
  fts5_tokenizer inner;
  Fts5Tokenizer *instance;
};

typedef struct {
  void *context;
  fts5_word next;
  int is_query;
} sink;

static fts5_api *find_api(sqlite3 *database) {
  fts5_api *api = NULL;
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, NULL) == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
    sqlite3_step(statement);
  }
  sqlite3_finalize(statement);
  return api;
}

// MARK: Folding

// Letters of two bytes that are one to people who type: both sides are two bytes long.
static const char *const same[][2] = {
    {"ß", "ss"}, {"ё", "е"}, {"й", "и"}, {"ά", "α"}, {"έ", "ε"}, {"ή", "η"}, {"ί", "ι"},
    {"ό", "ο"},  {"ύ", "υ"}, {"ώ", "ω"}, {"ϊ", "ι"}, {"ϋ", "υ"}, {"ΐ", "ι"}, {"ΰ", "υ"},
    {"ς", "σ"},
};

// The size of the character at `bytes`, which is UTF-8, and its number.
static int decode(const unsigned char *bytes, int size, uint32_t *scalar) {
  static const uint32_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  int count = bytes[0] < 0x80 ? 1 : bytes[0] < 0xE0 ? 2 : bytes[0] < 0xF0 ? 3 : 4;
  if (count > size) count = size;
  if (count == 1) {
    *scalar = bytes[0];
    return 1;
  }
  *scalar = bytes[0] - marks[count];
  for (int i = 1; i < count; i++) *scalar = *scalar << 6 | (bytes[i] & 0x3F);
  return count;
}

static int is_combining(uint32_t scalar) { return scalar >= 0x300 && scalar <= 0x36F; }

// Scripts that leave no space between words: Chinese, Japanese and Korean, Thai, Lao, Burmese and Khmer.
static int is_unparted(uint32_t scalar) {
  static const uint32_t ranges[][2] = {
      {0x0E00, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x3005, 0x3007},   {0x3040, 0x30FF},
      {0x31F0, 0x31FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7AF},   {0xF900, 0xFAFF},
      {0xFF66, 0xFF9F}, {0x20000, 0x3FFFF},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (scalar >= ranges[i][0] && scalar <= ranges[i][1]) return 1;
  return 0;
}

// Folds what unicode61 leaves; gives the new size.
static int fold(const char *word, int size, char *output) {
  int count = 0;
  for (int i = 0; i < size;) {
    uint32_t scalar;
    int step = decode((const unsigned char *)word + i, size - i, &scalar);
    const char *source = word + i;
    i += step;
    if (is_combining(scalar)) continue;
    if (step == 2)
      for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        if (memcmp(source, same[k][0], 2) == 0) {
          source = same[k][1];
          break;
        }
    if (count + step > word_limit) break;
    memcpy(output + count, source, step);
    count += step;
  }
  return count;
}

// MARK: Cutting

// A run of an unparted script becomes every pair of neighbours, so that any part of it is found as pairs in a row; and,
// beside the last pair, its last character, which no pair begins with.
static int pass_run(sink *sink, int flags, const char *run, int size, int start, int end,
                    int is_exact) {
  int position = 0, count = 0, result = SQLITE_OK;
  while (position < size && result == SQLITE_OK) {
    uint32_t scalar;
    int first = decode((const unsigned char *)run + position, size - position, &scalar);
    int rest = size - position - first;
    int second = rest > 0 ? decode((const unsigned char *)run + position + first, rest, &scalar) : 0;
    int is_last = second == 0;
    if (is_last && count > 0 && sink->is_query) break;
    result = sink->next(sink->context, is_last && count > 0 ? FTS5_TOKEN_COLOCATED : flags,
                        run + position, first + second, is_exact ? start + position : start,
                        is_exact ? start + position + first + second : end);
    flags = 0;
    count++;
    position += first;
  }
  return result;
}

static int pass(void *context, int flags, const char *word, int size, int start, int end) {
  sink *sink = context;
  char folded[word_limit];
  int count = fold(word, size, folded);
  int result = SQLITE_OK;
  int is_exact = count == end - start;
  for (int i = 0; i < count && result == SQLITE_OK;) {
    uint32_t scalar;
    int from = i, unparted = -1;
    while (i < count) {
      int step = decode((const unsigned char *)folded + i, count - i, &scalar);
      int is = is_unparted(scalar);
      if (unparted >= 0 && is != unparted) break;
      unparted = is;
      i += step;
    }
    int first = is_exact ? start + from : start, last = is_exact ? start + i : end;
    result = unparted
                 ? pass_run(sink, flags, folded + from, i - from, first, last, is_exact)
                 : sink->next(sink->context, flags, folded + from, i - from, first, last);
    flags = 0;
  }
  return result;
}

const void *kv_find_bytes(const void *bytes, size_t size, const void *part, size_t part_size) {
  return memmem(bytes, size, part, part_size);
}

// MARK: The tokenizer

static void drop(Fts5Tokenizer *tokenizer) {
  kv_words *words = (kv_words *)tokenizer;
  if (!words) return;
  if (words->instance) words->inner.xDelete(words->instance);
  free(words);
}

static int make(void *context, const char **arguments, int count, Fts5Tokenizer **output) {
  (void)arguments, (void)count;
  fts5_api *api = context;
  kv_words *words = calloc(1, sizeof *words);
  if (!words) return SQLITE_NOMEM;
  void *user = NULL;
  int result = api->xFindTokenizer(api, "unicode61", &user, &words->inner);
  if (result == SQLITE_OK) {
    // Marks are part of words: without them Hindi, Thai and others would be cut in the middle.
    const char *options[] = {"remove_diacritics", "2", "categories", "L* N* Co M*"};
    result = words->inner.xCreate(user, options, 4, &words->instance);
  }
  if (result != SQLITE_OK) {
    drop((Fts5Tokenizer *)words);
    return result;
  }
  *output = (Fts5Tokenizer *)words;
  return SQLITE_OK;
}

static int cut(Fts5Tokenizer *tokenizer, void *context, int flags, const char *text, int size,
               fts5_word next) {
  kv_words *words = (kv_words *)tokenizer;
  sink sink = {context, next, (flags & FTS5_TOKENIZE_QUERY) != 0};
  return words->inner.xTokenize(words->instance, &sink, flags, text, size, pass);
}

int kv_register_words(sqlite3 *database) {
  fts5_api *api = find_api(database);
  if (!api) return SQLITE_ERROR;
  fts5_tokenizer tokenizer = {make, drop, cut};
  return api->xCreateTokenizer(api, "kinvault", api, &tokenizer, NULL);
}

kv_words *kv_make_words(sqlite3 *database) {
  fts5_api *api = find_api(database);
  Fts5Tokenizer *made = NULL;
  if (!api || make(api, NULL, 0, &made) != SQLITE_OK) return NULL;
  return (kv_words *)made;
}

void kv_free_words(kv_words *words) { drop((Fts5Tokenizer *)words); }

typedef struct {
  void *context;
  kv_word_visitor visitor;
} visit;

static int call(void *context, int flags, const char *word, int size, int start, int end) {
  visit *visit = context;
  visit->visitor(visit->context, word, size, start, end, (flags & FTS5_TOKEN_COLOCATED) != 0);
  return SQLITE_OK;
}

int kv_visit_words(kv_words *words, const char *text, int size, void *context,
                   kv_word_visitor visitor) {
  visit visit = {context, visitor};
  return cut((Fts5Tokenizer *)words, &visit, FTS5_TOKENIZE_DOCUMENT, text, size, call);
}
