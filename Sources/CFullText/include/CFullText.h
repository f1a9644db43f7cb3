#pragma once
#include <stddef.h>

typedef struct sqlite3 sqlite3;

/// What cuts text into words, for FTS5 and for us: SQLite's unicode61 without diacritics, and on top of that what
/// Docs/Code.md, "Searching", says of ß, Cyrillic, Greek, and of scripts that do not part words.
typedef struct kv_words kv_words;

/// Registers it as the tokenizer "kinvault" of a connection. Returns 0, or SQLite's error.
int kv_register_words(sqlite3 *database);

/// One for `kv_visit_words`; NULL without memory, or where it is not registered. It must not outlive the connection.
kv_words *kv_make_words(sqlite3 *database);
void kv_free_words(kv_words *words);

/// Tells of a word: its folded bytes, good only during the call, and the range of the text that it comes from. A word
/// `beside` stands in the same place as the one before it.
typedef void (*kv_word_visitor)(void *context, const char *word, int size, int start, int end,
                                int beside);

/// Where `part` begins in `bytes`; NULL where it is not.
const void *kv_find_bytes(const void *bytes, size_t size, const void *part, size_t part_size);

/// Calls `visitor` for each word of `size` bytes of UTF-8, in order. Returns 0, or SQLite's error.
int kv_visit_words(kv_words *words, const char *text, int size, void *context,
                   kv_word_visitor visitor);
