#define _GNU_SOURCE
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int kv_raise_readahead(unsigned long long device, unsigned kibibytes) {
  char path[64];
  snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(device), minor(device));
  char text[16];
  int length = snprintf(text, sizeof text, "%u", kibibytes);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t written = write(fd, text, (size_t)length);
  int error = written == length ? 0 : errno;
  close(fd);
  return -error;
}

int kv_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0; }

char **kv_environment(void) { return environ; }

int kv_spawn_in_folder(posix_spawn_file_actions_t *actions, const char *folder) {
  return posix_spawn_file_actions_addchdir_np(actions, folder);
}

void kv_spawn_with_own_signals(posix_spawnattr_t *attributes, short flags) {
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(attributes, &signals);
  posix_spawnattr_setflags(attributes, flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int kv_unnamed_file(void) {
  int fd = memfd_create("kinvault", MFD_CLOEXEC);
  return fd < 0 ? -errno : fd;
}
