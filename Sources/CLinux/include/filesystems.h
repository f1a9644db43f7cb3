#ifndef KINVAULT_FILESYSTEMS_H
#define KINVAULT_FILESYSTEMS_H

/* 1 if `path` lies on a file system that lives in memory (tmpfs, ramfs), 0 if not, -errno when it fails. */
int kv_is_in_memory(const char *path);

/* 1 if `fd` lies on ext2, ext3 or ext4, 0 if not, -errno when it fails. Sets the numbers of its block device. */
int kv_is_ext(int fd, unsigned int *major_number, unsigned int *minor_number);

/* What is known of the file system that `fd` lies on. */
enum kv_file_system { KV_OTHER_FS, KV_EXT_FS, KV_XFS, KV_BTRFS, KV_MEMORY_FS, KV_FAT_FS };

/* KV_OTHER_FS also when it cannot be asked. */
enum kv_file_system kv_file_system(int fd);

/* The inode number of the folder; 0 where it cannot be asked, and on FAT, exFAT and FUSE, where it is another one whenever the
   kernel has forgotten the folder. */
unsigned long long kv_lasting_inode_number(const char *path);

#endif
