#define _GNU_SOURCE
#include "secrets.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Possessor: everything. User: view, read, write, search, link. Group and others: nothing.
#define KV_KEY_PERMISSIONS 0x3f1f0000UL

static long result(long value) { return value < 0 ? -errno : value; }

int kv_prctl_not_dumpable(void) {
  return (int)result(prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L));
}

int32_t kv_key_add(const char *description, const void *payload, size_t size) {
  return (int32_t)result(
      syscall(SYS_add_key, "user", description, payload, size, KEY_SPEC_PROCESS_KEYRING));
}

int32_t kv_key_find(const char *description) {
  return (int32_t)result(syscall(
      SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", description, 0L));
}

long kv_key_read(int32_t key, void *payload, size_t size) {
  return result(syscall(SYS_keyctl, KEYCTL_READ, key, payload, size, 0L));
}

int kv_key_set_timeout(int32_t key, uint32_t seconds) {
  return (int)result(syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, seconds, 0L, 0L));
}

int kv_key_share_with_user(int32_t key) {
  return (int)result(syscall(SYS_keyctl, KEYCTL_SETPERM, key, KV_KEY_PERMISSIONS, 0L, 0L));
}

int kv_key_link_to_user_keyring(int32_t key) {
  return (int)result(syscall(SYS_keyctl, KEYCTL_LINK, key, KEY_SPEC_USER_KEYRING, 0L, 0L));
}

int kv_key_unlink_from_process_keyring(int32_t key) {
  return (int)result(syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_PROCESS_KEYRING, 0L, 0L));
}

int kv_key_invalidate(int32_t key) {
  return (int)result(syscall(SYS_keyctl, KEYCTL_INVALIDATE, key, 0L, 0L, 0L));
}
