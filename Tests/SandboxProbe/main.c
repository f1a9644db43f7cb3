// Tries, before or after kv_confine, what a process that somebody has taken over would try, and says of each attempt what
// came of it: a line with its name and the error, 0 for none.
//
//   sandbox-probe free | confined      the attempts
//   sandbox-probe landlock             the second wall alone; says only "absent 0" where the kernel has none
//   sandbox-probe memory               half a gibibyte and a whole one, confined
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CSandbox.h"

static void tell(const char *what, long result) {
  char line[64];
  int length = snprintf(line, sizeof line, "%s %d\n", what, result < 0 ? errno : 0);
  if (write(STDOUT_FILENO, line, (size_t)length) != length) _exit(1);
}

static void *nothing(void *unused) { return unused; }

// As `clone` returns: the child goes at once.
static long ended(long process) {
  if (process == 0) _exit(0);
  if (process > 0) waitpid((pid_t)process, NULL, 0);
  return process;
}

static long exec_in_child(void) {
  // As a call that succeeds never returns, its error goes through the exit status. Confined, there is no child to try it in.
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  char *words[] = {"true", NULL}, *none[] = {NULL};
  if (child <= 0) {
    execve("/bin/true", words, none);
    if (child == 0) _exit(errno);
    return -1;
  }
  int status = 0;
  waitpid((pid_t)child, &status, 0);
  errno = WEXITSTATUS(status);
  return status == 0 ? 0 : -1;
}

static void attempt_all(int inherited, pid_t self) {
  char byte = 0, copy = 0;
  struct iovec part = {&byte, 1}, place = {&copy, 1};
  tell("read-inherited", read(inherited, &byte, 1));
  tell("write-stderr", write(STDERR_FILENO, "", 0));
  tell("open", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
  tell("open-path", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_PATH));
  tell("create", syscall(SYS_openat, AT_FDCWD, "/tmp", O_TMPFILE | O_RDWR, 0600));
  struct { unsigned long long flags, mode, resolve; } how = {O_RDONLY, 0, 0};
  tell("openat2", syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof how));
  struct stat status;
  tell("stat", stat("/etc/passwd", &status));
  tell("access", access("/etc/passwd", R_OK));
  char name[PATH_MAX];
  tell("readlink", readlink("/proc/self/exe", name, sizeof name));
  tell("working-folder", chdir("/tmp"));
  tell("unnamed-file", syscall(SYS_memfd_create, "probe", 0));
  tell("socket-internet", socket(AF_INET, SOCK_STREAM, 0));
  tell("socket-datagrams", socket(AF_INET, SOCK_DGRAM, 0));
  tell("socket-local", socket(AF_UNIX, SOCK_STREAM, 0));
  int pair[2];
  tell("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  tell("pipe", pipe(pair));
  tell("duplicate", dup(STDOUT_FILENO));
  tell("fork", ended(fork()));
  tell("vfork-like", ended(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  tell("thread", errno == 0 ? pthread_join(thread, NULL) : -1);
  tell("exec", exec_in_child());
  tell("signal", kill(self, 0));
  tell("map-code", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0);
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tell("make-code", mprotect(memory, 4096, PROT_READ | PROT_EXEC));
  tell("read-memory", process_vm_readv(self, &place, 1, &part, 1, 0));
  struct rlimit limit = {3, 3};
  tell("limits", setrlimit(RLIMIT_NOFILE, &limit));
  tell("dumpable", prctl(PR_SET_DUMPABLE, 1));
  tell("names-of-users", syscall(SYS_getuid));
  tell("keyring", syscall(SYS_keyctl, 0, -3, 1) < 0 && errno != ENOKEY ? -1 : 0);
}

static void attempt_paths(int inherited) {
  int absent = kv_lock_paths();
  if (absent != 0) return tell("absent", absent < 0 ? -1 : 0);
  tell("read-inherited", read(inherited, &(char){0}, 1));
  tell("open", open("/etc/passwd", O_RDONLY));
  tell("list", open("/", O_RDONLY | O_DIRECTORY));
  tell("create", open("/tmp", O_TMPFILE | O_RDWR, 0600));
  tell("make-folder", mkdir("/tmp/sandbox-probe", 0700));
  tell("exec", exec_in_child());
}

int main(int count, char **words) {
  const char *what = count == 2 ? words[1] : "";
  pid_t self = getpid();
  int inherited = open("/dev/zero", O_RDONLY);
  if (inherited < 0) return 1;
  if (strcmp(what, "landlock") == 0) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
    attempt_paths(inherited);
    return 0;
  }
  if (strcmp(what, "free") != 0 && kv_confine() != 0) return 2;
  if (strcmp(what, "memory") == 0) {
    // An optimizer takes a malloc that nobody uses for one that never fails.
    const int kind = MAP_PRIVATE | MAP_ANONYMOUS;
    tell("half", mmap(NULL, 512u << 20, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED ? -1 : 0);
    tell("whole", mmap(NULL, 1u << 30, PROT_READ | PROT_WRITE, kind, -1, 0) == MAP_FAILED ? -1 : 0);
  } else {
    attempt_all(inherited, self);
  }
  _exit(0);
}
