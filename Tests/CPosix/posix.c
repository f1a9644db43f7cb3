#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

const int px_o_tmpfile = O_TMPFILE;
const int px_o_path = O_PATH;
const int px_o_direct = O_DIRECT;

int px_rename(const char *from, const char *to, unsigned flags) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
}

int px_fallocate(int fd, int mode, int64_t offset, int64_t length) { return fallocate(fd, mode, offset, length); }

int64_t px_seek_data(int fd, int64_t offset) { return lseek(fd, offset, SEEK_DATA); }

int64_t px_seek_hole(int fd, int64_t offset) { return lseek(fd, offset, SEEK_HOLE); }

ssize_t px_copy_file_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t length) {
  off64_t in = from_offset, out = to_offset;
  return copy_file_range(from, from_offset < 0 ? NULL : &in, to, to_offset < 0 ? NULL : &out, length, 0);
}

int px_syncfs(int fd) { return syncfs(fd); }

int px_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int px_setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
  return lsetxattr(path, name, value, size, flags);
}

ssize_t px_getxattr(const char *path, const char *name, void *value, size_t size) {
  return lgetxattr(path, name, value, size);
}

ssize_t px_listxattr(const char *path, char *names, size_t size) { return llistxattr(path, names, size); }

int px_removexattr(const char *path, const char *name) { return lremovexattr(path, name); }

int px_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags) {
  return fsetxattr(fd, name, value, size, flags);
}

int px_utimens(const char *path, int64_t access, int64_t access_ns, int64_t change, int64_t change_ns) {
  struct timespec times[2] = {{.tv_sec = access, .tv_nsec = access_ns}, {.tv_sec = change, .tv_nsec = change_ns}};
  return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

int px_lock_description(int fd, int type, int64_t start, int64_t length) {
  struct flock lock = {.l_type = (short)type, .l_whence = SEEK_SET, .l_start = start, .l_len = length};
  return fcntl(fd, F_OFD_SETLK, &lock);
}

ssize_t px_write_asynchronously(int fd, const void *bytes, size_t size, int64_t offset) {
  aio_context_t context = 0;
  struct iocb block = {
      .aio_lio_opcode = IOCB_CMD_PWRITE,
      .aio_fildes = (unsigned)fd,
      .aio_buf = (unsigned long)bytes,
      .aio_nbytes = size,
      .aio_offset = offset,
  };
  struct iocb *blocks[] = {&block};
  struct io_event event = {0};
  if (syscall(SYS_io_setup, 1, &context) < 0) return -1;
  long done = syscall(SYS_io_submit, context, 1, blocks);
  if (done == 1) {
    do {
      done = syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
    } while (done < 0 && errno == EINTR);
  }
  int failure = done < 0 ? errno : event.res < 0 ? (int)-event.res : 0;
  syscall(SYS_io_destroy, context);
  if (failure == 0) return (ssize_t)event.res;
  errno = failure;
  return -1;
}

int px_open_nameless(const char *folder) {
  char name[4096];
  int fd;
  snprintf(name, sizeof name, "%s/kinvault-tests-output.XXXXXX", folder);
  fd = mkostemp(name, O_CLOEXEC);
  if (fd >= 0) unlink(name);
  return fd;
}
