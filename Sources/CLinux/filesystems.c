#define _GNU_SOURCE
#include "filesystems.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/vfs.h>

int kv_is_in_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) < 0) return -errno;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}
