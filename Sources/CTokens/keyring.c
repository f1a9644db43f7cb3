#define _GNU_SOURCE
#include "CTokens.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// libsecret (0.20) is found when somebody asks for it and not before: it brings GLib along, which takes longer to load than
// the rest of the program, and who has no desktop has no libsecret. These are its public declarations, as documented.
enum { SCHEMA_NONE = 0, ATTRIBUTE_STRING = 0 };
typedef struct {
  const char *name;
  int flags;
  struct {
    const char *name;
    int type;
  } attributes[32];
  int reserved;
  void *reserved1, *reserved2, *reserved3, *reserved4, *reserved5, *reserved6, *reserved7;
} SecretSchema;
typedef struct {
  unsigned domain;
  int code;
  char *message;
} GError;
typedef struct GHashTable GHashTable;

static const SecretSchema schema = {
    .name = "org.kinvault.Slot",
    .flags = SCHEMA_NONE,
    .attributes = {{"vault", ATTRIBUTE_STRING}, {"slot", ATTRIBUTE_STRING}, {NULL, 0}},
};

static struct {
  GHashTable *(*hash_table_new)(unsigned (*)(const void *), int (*)(const void *, const void *));
  int (*hash_table_insert)(GHashTable *, void *, void *);
  void (*hash_table_unref)(GHashTable *);
  unsigned (*str_hash)(const void *);
  int (*str_equal)(const void *, const void *);
  void (*error_free)(GError *);
  int (*store)(const SecretSchema *, GHashTable *, const char *, const char *, const char *, void *,
               GError **);
  char *(*lookup)(const SecretSchema *, GHashTable *, void *, GError **);
  int (*clear)(const SecretSchema *, GHashTable *, void *, GError **);
  void (*password_free)(char *);
} secret;

static int is_loaded;
static char *load_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
  void *library = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *text = dlerror();
    load_error = strdup(text ? text : "libsecret-1.so.0 cannot be loaded");
    return;
  }
  struct {
    const char *name;
    void **place;
  } functions[] = {
      {"g_hash_table_new", (void **)&secret.hash_table_new},
      {"g_hash_table_insert", (void **)&secret.hash_table_insert},
      {"g_hash_table_unref", (void **)&secret.hash_table_unref},
      {"g_str_hash", (void **)&secret.str_hash},
      {"g_str_equal", (void **)&secret.str_equal},
      {"g_error_free", (void **)&secret.error_free},
      {"secret_password_storev_sync", (void **)&secret.store},
      {"secret_password_lookupv_nonpageable_sync", (void **)&secret.lookup},
      {"secret_password_clearv_sync", (void **)&secret.clear},
      {"secret_password_free", (void **)&secret.password_free},
  };
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    *functions[index].place = dlsym(library, functions[index].name);
    if (!*functions[index].place) {
      load_error = strdup(functions[index].name);
      return;
    }
  }
  is_loaded = 1;
}

/// The names under which a secret is kept; NULL, with the reason, where there is no libsecret.
static GHashTable *names(const char *vault, const char *slot, char **error) {
  pthread_once(&once, load);
  if (!is_loaded) {
    *error = strdup(load_error ? load_error : "");
    return NULL;
  }
  GHashTable *table = secret.hash_table_new(secret.str_hash, secret.str_equal);
  secret.hash_table_insert(table, "vault", (void *)vault);
  secret.hash_table_insert(table, "slot", (void *)slot);
  return table;
}

static int fail(GError *failure, char **error) {
  *error = strdup(failure->message ? failure->message : "");
  secret.error_free(failure);
  return -1;
}

int kv_keyring_store(const char *vault, const char *slot, const char *label, const char *text,
                     char **error) {
  GHashTable *table = names(vault, slot, error);
  if (!table) return -1;
  GError *failure = NULL;
  // No collection: the default one, which the desktop opens with the session.
  secret.store(&schema, table, NULL, label, text, NULL, &failure);
  secret.hash_table_unref(table);
  return failure ? fail(failure, error) : 0;
}

int kv_keyring_load(const char *vault, const char *slot, char **text, char **error) {
  GHashTable *table = names(vault, slot, error);
  if (!table) return -1;
  GError *failure = NULL;
  *text = secret.lookup(&schema, table, NULL, &failure);
  secret.hash_table_unref(table);
  if (failure) return fail(failure, error);
  return *text ? 0 : 1;
}

int kv_keyring_remove(const char *vault, const char *slot, char **error) {
  GHashTable *table = names(vault, slot, error);
  if (!table) return -1;
  GError *failure = NULL;
  int removed = secret.clear(&schema, table, NULL, &failure);
  secret.hash_table_unref(table);
  if (failure) return fail(failure, error);
  return removed ? 0 : 1;
}

void kv_keyring_free(char *text) { secret.password_free(text); }
