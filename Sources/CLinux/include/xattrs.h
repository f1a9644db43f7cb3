#ifndef KINVAULT_XATTRS_H
#define KINVAULT_XATTRS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Extended attributes of an open file. Every function returns -errno when it fails; -ENOTSUP where the file system
 * has none.
 */

/* The names, each with a NUL behind it. With a size of 0 only says how many bytes there are. */
ssize_t kv_flistxattr(int fd, char *names, size_t size);

/* The value. With a size of 0 only says how many bytes there are. */
ssize_t kv_fgetxattr(int fd, const char *name, void *value, size_t size);

int kv_fsetxattr(int fd, const char *name, const void *value, size_t size);

#endif
