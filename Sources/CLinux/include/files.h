#ifndef KINVAULT_FILES_H
#define KINVAULT_FILES_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Files and folders. Every function returns -errno when it fails, EINTR included. Every descriptor that they open
 * is closed on exec.
 */

/*
 * Opens `path` below the folder `root` and follows no symbolic link, in no part of it: ELOOP if there is one,
 * EXDEV for a path that leads out. openat2 where the kernel has it (5.6), else part by part.
 */
int kv_open_beneath(int root, const char *path, int flags, mode_t mode);

/* The same, always part by part with O_NOFOLLOW: what kv_open_beneath does on older kernels. */
int kv_open_beneath_by_parts(int root, const char *path, int flags, mode_t mode);

/*
 * Opens the folder that holds `path`, as kv_open_beneath does, and points `*name` at the last part of `path`.
 * The descriptor is one for the *at calls only (O_PATH), unless `readable` is not 0, as fsync needs it.
 */
int kv_open_parent_beneath(int root, const char *path, int readable, const char **name);

/* renameat2(2) and its flags; EINVAL where the file system does not know the flag. */
enum { KV_RENAME_NOREPLACE = 1, KV_RENAME_EXCHANGE = 2 };
/* A descriptor that keeps what `name` stands for from being freed, and serves nothing else; -errno. */
int kv_hold(int folder, const char *name);

int kv_renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned flags);

/* A new file without a name, on the file system of this folder, open for writing; gone with its descriptor. */
int kv_open_unnamed(int folder);

/* Gives such a file a name; -EEXIST when there is something of that name. */
int kv_link_unnamed(int fd, int folder, const char *name);

/* syncfs(2): the whole file system behind `fd` is on disk. Reports write-back errors since `fd` was opened (5.8). */
int kv_syncfs(int fd);

/* sync_file_range(2) that starts writing back a range and waits for nothing: no durability, only a head start. */
int kv_start_writeback(int fd, int64_t offset, int64_t length);

/* sync_file_range(2) that writes back the whole file and waits until its data have left for the device, the blocks and
   size of the file being part of a transaction by then. Flushes no device cache and forces no transaction to disk. */
int kv_finish_writeback(int fd);

/* The flag of open(2). */
extern const int kv_o_direct;

/* fallocate(2) and its modes. */
enum { KV_FALLOC_KEEP_SIZE = 1, KV_FALLOC_PUNCH_HOLE = 2, KV_FALLOC_COLLAPSE_RANGE = 8, KV_FALLOC_ZERO_RANGE = 16,
       KV_FALLOC_INSERT_RANGE = 32, KV_FALLOC_UNSHARE_RANGE = 64 };
int kv_fallocate(int fd, int mode, int64_t offset, int64_t length);

/* copy_file_range(2) at both descriptors' own offsets; the number of bytes copied, 0 at the end of `from`. */
ssize_t kv_copy_file_range(int from, int to, size_t length);

/* lseek(2) with SEEK_DATA or SEEK_HOLE; -ENXIO when there is none behind `offset`. */
int64_t kv_seek_data(int fd, int64_t offset);
int64_t kv_seek_hole(int fd, int64_t offset);

#endif
