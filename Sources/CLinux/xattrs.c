#define _GNU_SOURCE
#include "xattrs.h"

#include <errno.h>
#include <sys/xattr.h>

ssize_t kv_flistxattr(int fd, char *names, size_t size) {
    ssize_t result = flistxattr(fd, names, size);
    return result < 0 ? -errno : result;
}

ssize_t kv_fgetxattr(int fd, const char *name, void *value, size_t size) {
    ssize_t result = fgetxattr(fd, name, value, size);
    return result < 0 ? -errno : result;
}

int kv_fsetxattr(int fd, const char *name, const void *value, size_t size) {
    return fsetxattr(fd, name, value, size, 0) < 0 ? -errno : 0;
}
