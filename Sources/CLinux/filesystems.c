#define _GNU_SOURCE
#include "filesystems.h"

#include <errno.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#ifndef EXFAT_SUPER_MAGIC
#define EXFAT_SUPER_MAGIC 0x2011BAB0UL
#endif

int kv_is_in_memory(const char *path) {
    struct statfs status;
    if (statfs(path, &status) < 0) return -errno;
    return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}

int kv_is_ext(int fd, unsigned int *major_number, unsigned int *minor_number) {
    struct statfs system;
    struct stat status;
    if (fstatfs(fd, &system) < 0 || fstat(fd, &status) < 0) return -errno;
    *major_number = major(status.st_dev);
    *minor_number = minor(status.st_dev);
    return system.f_type == EXT4_SUPER_MAGIC;
}

enum kv_file_system kv_file_system(int fd) {
    struct statfs system;
    if (fstatfs(fd, &system) < 0) return KV_OTHER_FS;
    switch (system.f_type) {
    case EXT4_SUPER_MAGIC: return KV_EXT_FS;
    case XFS_SUPER_MAGIC: return KV_XFS;
    case BTRFS_SUPER_MAGIC: return KV_BTRFS;
    case TMPFS_MAGIC: case RAMFS_MAGIC: return KV_MEMORY_FS;
    case MSDOS_SUPER_MAGIC: case EXFAT_SUPER_MAGIC: return KV_FAT_FS;
    default: return KV_OTHER_FS;
    }
}

unsigned long long kv_lasting_inode_number(const char *path) {
    struct statfs system;
    struct stat status;
    if (statfs(path, &system) < 0 || stat(path, &status) < 0) return 0;
    switch (system.f_type) {
    case MSDOS_SUPER_MAGIC: case EXFAT_SUPER_MAGIC: case FUSE_SUPER_MAGIC: return 0;
    default: return status.st_ino;
    }
}
