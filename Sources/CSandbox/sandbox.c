#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Sets a limit, or leaves one that is lower.
static int limit(__rlimit_resource_t resource, rlim_t soft, rlim_t hard) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) < 0) return -errno;
  if (limit.rlim_max > hard) limit.rlim_max = hard;
  if (limit.rlim_cur > soft) limit.rlim_cur = soft;
  return setrlimit(resource, &limit) < 0 ? -errno : 0;
}

static int set_limits(void) {
  int error = limit(RLIMIT_AS, 1 << 30, 1 << 30);
  // SIGXCPU at 20 s; a second later SIGKILL, which nothing can be done about.
  if (error == 0) error = limit(RLIMIT_CPU, 20, 21);
  if (error == 0) error = limit(RLIMIT_CORE, 0, 0);
  if (error == 0) error = limit(RLIMIT_NPROC, 0, 0);
  if (error == 0) error = limit(RLIMIT_NOFILE, 2, 2);
  return error;
}

// Landlock as of its seventh version, where Debian's headers know less; the numbers of its system calls are the same on every
// architecture. https://docs.kernel.org/userspace-api/landlock.html
enum { LANDLOCK_CREATE = 444, LANDLOCK_RESTRICT = 446, LANDLOCK_VERSION = 1 };

struct landlock_rights {
  uint64_t files;
  uint64_t network;
  uint64_t scopes;
};

// Every right that the kernel knows has to be given by a rule, and there is none.
int kv_lock_paths(void) {
  long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
  if (version < 0) return errno == ENOSYS || errno == EOPNOTSUPP ? 1 : -errno;
  struct landlock_rights rights = {
      .files = version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version >= 2 ? 0x3fff : 0x1fff,
      .network = version >= 4 ? 3 : 0,
      .scopes = version >= 6 ? 3 : 0,
  };
  size_t size = version >= 6 ? sizeof rights
                : version >= 4 ? offsetof(struct landlock_rights, scopes)
                               : offsetof(struct landlock_rights, network);
  long rules = syscall(LANDLOCK_CREATE, &rights, size, 0);
  if (rules < 0) return -errno;
  int error = syscall(LANDLOCK_RESTRICT, rules, 0) < 0 ? -errno : 0;
  close((int)rules);
  return error;
}

// What is allowed whatever its arguments are: memory is taken and given back, time and chance are asked for, and the process
// ends. Nothing of it names anything outside.
static const int harmless[] = {
    SCMP_SYS(brk),           SCMP_SYS(clock_gettime), SCMP_SYS(exit),       SCMP_SYS(exit_group),
    SCMP_SYS(futex),         SCMP_SYS(getrandom),     SCMP_SYS(gettimeofday), SCMP_SYS(madvise),
    SCMP_SYS(mremap),        SCMP_SYS(munmap),        SCMP_SYS(restart_syscall),
    SCMP_SYS(sysinfo),
};

// Everything else fails with EPERM: the libraries ask for this and that which they can do without, as for tables of
// characters on the disk. Calls of another architecture end the process.
static int filter_calls(void) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == NULL) return -ENOMEM;
  int error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
  if (error == 0) error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
  for (size_t i = 0; error == 0 && i < sizeof harmless / sizeof *harmless; i++)
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, harmless[i], 0);
  if (error == 0)
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, SCMP_A0(SCMP_CMP_EQ, STDIN_FILENO));
  if (error == 0)
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO));
  // Memory that is written is never run.
  const int mapping[] = {SCMP_SYS(mmap), SCMP_SYS(mprotect)};
  for (int i = 0; error == 0 && i < 2; i++)
    error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, mapping[i], 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  if (error == 0) error = seccomp_load(filter);
  seccomp_release(filter);
  return error;
}

int kv_confine(void) {
  // A folder that somebody wants to unmount must not be held.
  if (chdir("/") < 0) return -errno;
  // No other program of this user looks into it, and it outlives nobody who waits for it.
  if (prctl(PR_SET_DUMPABLE, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0) return -errno;
  if (syscall(SYS_close_range, STDERR_FILENO, ~0U, 0) < 0) return -errno;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
  // Where the kernel has no such thing the filter of system calls stands alone.
  int error = kv_lock_paths();
  if (error >= 0) error = set_limits();
  if (error == 0) error = filter_calls();
  return error;
}
