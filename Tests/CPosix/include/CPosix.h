#ifndef KINVAULT_TESTS_CPOSIX_H
#define KINVAULT_TESTS_CPOSIX_H

#include <stdint.h>
#include <sys/types.h>

/*
 * System calls that Swift's Glibc module does not show. The POSIX suite has its own: it must not lean on the code that it
 * tests. All return -1 and set errno when they fail.
 */

enum { PX_RENAME_NOREPLACE = 1, PX_RENAME_EXCHANGE = 2 };
int px_rename(const char *from, const char *to, unsigned flags);

enum {
  PX_FALLOC_KEEP_SIZE = 1,
  PX_FALLOC_PUNCH_HOLE = 2,
  PX_FALLOC_COLLAPSE_RANGE = 8,
  PX_FALLOC_ZERO_RANGE = 16,
  PX_FALLOC_INSERT_RANGE = 32
};
int px_fallocate(int fd, int mode, int64_t offset, int64_t length);

int64_t px_seek_data(int fd, int64_t offset);
int64_t px_seek_hole(int fd, int64_t offset);

/* copy_file_range(2) at the given offsets; -1 as an offset means the descriptor's own. */
ssize_t px_copy_file_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t length);

int px_syncfs(int fd);

/* A pipe that no program started later inherits. */
int px_pipe(int ends[2]);

enum { PX_XATTR_CREATE = 1, PX_XATTR_REPLACE = 2 };
int px_setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
ssize_t px_getxattr(const char *path, const char *name, void *value, size_t size);
ssize_t px_listxattr(const char *path, char *names, size_t size);
int px_removexattr(const char *path, const char *name);
int px_fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);

/* utimensat(2), symbolic links not followed; PX_UTIME_NOW and PX_UTIME_OMIT stand as nanoseconds. */
enum { PX_UTIME_NOW = (1l << 30) - 1l, PX_UTIME_OMIT = (1l << 30) - 2l };
int px_utimens(const char *path, int64_t access, int64_t access_ns, int64_t change, int64_t change_ns);

/* Locks of the open file description (F_OFD_SETLK): `type` is F_RDLCK, F_WRLCK or F_UNLCK. Does not wait. */
int px_lock_description(int fd, int type, int64_t start, int64_t length);

/* A file without a name in `folder`, closed on exec, to be read and written. */
int px_open_nameless(const char *folder);

/* Writes by io_submit(2) and waits for the end; the number of bytes. With O_DIRECT memory and offset must be aligned. */
ssize_t px_write_asynchronously(int fd, const void *bytes, size_t size, int64_t offset);

extern const int px_o_tmpfile;
extern const int px_o_path;
extern const int px_o_direct;

#endif
