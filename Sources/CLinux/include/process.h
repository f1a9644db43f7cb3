#ifndef KINVAULT_PROCESS_H
#define KINVAULT_PROCESS_H

#include <spawn.h>

/* What concerns the process as a whole. */

/*
 * Sets the readahead of the mount whose st_dev is `device`, in /sys/class/bdi: the kernel gives a FUSE mount 128 KiB.
 * Returns 0 or -errno: EACCES for anyone but root, ENOENT where there is no such entry.
 */
int kv_raise_readahead(unsigned long long device, unsigned kibibytes);

/* A pipe whose two ends are closed on exec. Returns 0 or -errno. */
int kv_pipe(int ends[2]);

/* posix_spawn_file_actions_addchdir_np(3): the program starts in this folder. Returns 0 or a positive errno. */
int kv_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder);

/* The program inherits nothing of what this process blocks or ignores; `flags` are further POSIX_SPAWN_… */
void kv_spawn_with_own_signals(posix_spawnattr_t *attributes, short flags);

/* A new empty file in memory without a name (memfd_create), closed on exec; its descriptor, or -errno. */
int kv_unnamed_file(void);

/* This process's environment, as posix_spawn wants it: not to be kept while anyone may change it. */
char **kv_environment(void);

#endif
