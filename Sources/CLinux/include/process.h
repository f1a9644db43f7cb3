#ifndef KINVAULT_PROCESS_H
#define KINVAULT_PROCESS_H

#include <stddef.h>

/* What concerns the process as a whole. */

/*
 * Tells malloc to keep big blocks instead of giving them back to the kernel at every free: buffers of a chunk or
 * two (1 MiB and more) come and go all the time, and first touching fresh pages costs more than sealing them.
 * `arena_count` bounds how many heaps threads get (0: leave that alone). Call it once, before threads start.
 */
void kv_malloc_tuning(size_t mmap_threshold, size_t trim_threshold, int arena_count);

/*
 * Sets the readahead of the mount whose st_dev is `device`, in /sys/class/bdi: the kernel gives a FUSE mount 128 KiB.
 * Returns 0 or -errno: EACCES for anyone but root, ENOENT where there is no such entry.
 */
int kv_raise_readahead(unsigned long long device, unsigned kibibytes);

/* A pipe whose two ends are closed on exec. Returns 0 or -errno. */
int kv_pipe(int ends[2]);

#endif
