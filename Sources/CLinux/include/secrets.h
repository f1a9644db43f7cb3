// What keeps secrets inside a process, and a session key in the kernel.
//
// Every function returns -errno when it fails.
#ifndef KINVAULT_SECRETS_H
#define KINVAULT_SECRETS_H

#include <stddef.h>
#include <stdint.h>

/// No core dump, no ptrace by the same user, /proc/self not readable by others. Returns 0.
int kv_prctl_not_dumpable(void);

/// Adds a key of type `user` to the calling process's own keyring; returns its serial number.
int32_t kv_key_add(const char *description, const void *payload, size_t size);

/// Finds a key of type `user` in the user's keyring (@u); returns its serial number.
int32_t kv_key_find(const char *description);

/// Copies at most `size` bytes of the payload; returns the payload's whole size.
long kv_key_read(int32_t key, void *payload, size_t size);

/// The kernel removes the key after this many seconds from now (0: never). Returns 0.
int kv_key_set_timeout(int32_t key, uint32_t seconds);

/// Lets every process of this user, and nobody else, find and use the key. Returns 0.
int kv_key_share_with_user(int32_t key);

/// Puts the key into the user's keyring (@u), in place of one of the same description. Returns 0.
int kv_key_link_to_user_keyring(int32_t key);

/// Takes the key out of the calling process's own keyring. Returns 0.
int kv_key_unlink_from_process_keyring(int32_t key);

/// Removes the key at once, whoever else holds a link to it. Returns 0.
int kv_key_invalidate(int32_t key);

#endif
