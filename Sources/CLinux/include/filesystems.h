#ifndef KINVAULT_FILESYSTEMS_H
#define KINVAULT_FILESYSTEMS_H

/* 1 if `path` lies on a file system that lives in memory (tmpfs, ramfs), 0 if not, -errno when it fails. */
int kv_is_in_memory(const char *path);

#endif
