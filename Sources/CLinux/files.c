#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const int kv_o_direct = O_DIRECT;

_Static_assert(KV_RENAME_NOREPLACE == RENAME_NOREPLACE && KV_RENAME_EXCHANGE == RENAME_EXCHANGE, "renameat2 flags");
_Static_assert(KV_FALLOC_KEEP_SIZE == FALLOC_FL_KEEP_SIZE && KV_FALLOC_PUNCH_HOLE == FALLOC_FL_PUNCH_HOLE &&
                   KV_FALLOC_COLLAPSE_RANGE == FALLOC_FL_COLLAPSE_RANGE && KV_FALLOC_ZERO_RANGE == FALLOC_FL_ZERO_RANGE &&
                   KV_FALLOC_INSERT_RANGE == FALLOC_FL_INSERT_RANGE && KV_FALLOC_UNSHARE_RANGE == FALLOC_FL_UNSHARE_RANGE,
               "fallocate modes");

/* What a system call returned, as our callers want it. */
static int64_t result(int64_t returned) { return returned < 0 ? -errno : returned; }

int kv_open_beneath(int root, const char *path, int flags, mode_t mode) {
  struct open_how how = {
      .flags = (unsigned)(flags | O_CLOEXEC),
      .mode = (flags & O_CREAT) ? mode : 0, /* openat2 refuses a mode without a use for it */
      .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
  };
  int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
  if (fd >= 0 || errno != ENOSYS) return (int)result(fd);
  return kv_open_beneath_by_parts(root, path, flags, mode);
}

/* Opens one part of a path; a link is ELOOP, as openat2 says it, also where O_DIRECTORY makes it ENOTDIR. */
static int open_part(int folder, const char *part, int flags, mode_t mode) {
  int fd = openat(folder, part, flags | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd >= 0) return fd;
  int error = errno;
  char byte;
  if (error == ENOTDIR && readlinkat(folder, part, &byte, 1) >= 0) error = ELOOP;
  return -error;
}

int kv_open_beneath_by_parts(int root, const char *path, int flags, mode_t mode) {
  int folder = root;
  for (;;) {
    size_t length = strcspn(path, "/");
    int is_last = path[length] == 0;
    char part[NAME_MAX + 1];
    int fd;
    if (length > NAME_MAX) {
      fd = -ENAMETOOLONG;
    } else if (length == 0 || (length == 2 && strncmp(path, "..", 2) == 0)) {
      fd = -EXDEV; /* an absolute path, or one that climbs */
    } else {
      memcpy(part, path, length);
      part[length] = 0;
      fd = open_part(folder, part, is_last ? flags : O_PATH | O_DIRECTORY, mode);
    }
    if (folder != root) close(folder);
    if (fd < 0 || is_last) return fd;
    folder = fd;
    path += length + 1;
  }
}

int kv_open_parent_beneath(int root, const char *path, int readable, const char **name) {
  const int flags = O_DIRECTORY | (readable ? O_RDONLY : O_PATH);
  const char *slash = strrchr(path, '/');
  if (!slash) {
    *name = path;
    return (int)result(openat(root, ".", flags | O_CLOEXEC));
  }
  *name = slash + 1;
  size_t length = (size_t)(slash - path);
  char parent[PATH_MAX];
  if (length >= sizeof parent) return -ENAMETOOLONG;
  memcpy(parent, path, length);
  parent[length] = 0;
  return kv_open_beneath(root, parent, flags, 0);
}

int kv_hold(int folder, const char *name) {
  return (int)result(openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

int kv_renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned flags) {
  return (int)result(renameat2(old_folder, old_name, new_folder, new_name, flags));
}

int kv_open_unnamed(int folder) {
  return (int)result(openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
}

int kv_link_unnamed(int fd, int folder, const char *name) {
  if (linkat(fd, "", folder, name, AT_EMPTY_PATH) == 0) return 0;
  // Before Linux 6.10 that takes a capability, without which the answer is ENOENT.
  if (errno != ENOENT) return -errno;
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return (int)result(linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW));
}

int kv_syncfs(int fd) { return (int)result(syncfs(fd)); }

int kv_start_writeback(int fd, int64_t offset, int64_t length) {
  return (int)result(sync_file_range(fd, offset, length, SYNC_FILE_RANGE_WRITE));
}

int kv_finish_writeback(int fd) {
  return (int)result(sync_file_range(
      fd, 0, 0,
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER));
}

int kv_fallocate(int fd, int mode, int64_t offset, int64_t length) {
  return (int)result(fallocate(fd, mode, offset, length));
}

ssize_t kv_copy_file_range(int from, int to, size_t length) {
  return result(copy_file_range(from, NULL, to, NULL, length, 0));
}

int64_t kv_seek_data(int fd, int64_t offset) { return result(lseek(fd, offset, SEEK_DATA)); }

int64_t kv_seek_hole(int fd, int64_t offset) { return result(lseek(fd, offset, SEEK_HOLE)); }
