// Loaded into user-mode Linux. Its kernel 6.1 keeps 2,696 bytes of a process's processor state, and ends itself with
// SIGABRT where the kernel below has more: that one takes back nothing but the whole (a processor with AMX: 11,008 bytes).
// What it does not keep is left here as it is: tiles of matrices, for which a process has to ask first.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef long (*request_function)(enum __ptrace_request, pid_t, void *, void *);

long ptrace(enum __ptrace_request request, ...) {
  va_list rest;
  va_start(rest, request);
  pid_t process = va_arg(rest, pid_t);
  void *address = va_arg(rest, void *);
  void *data = va_arg(rest, void *);
  va_end(rest);
  request_function next = (request_function)dlsym(RTLD_NEXT, "ptrace");
  if (request != PTRACE_SETREGSET || address != (void *)NT_X86_XSTATE) return next(request, process, address, data);
  // Its stacks are small. One thread of it asks for registers.
  static char state[1 << 16];
  struct iovec whole = {state, sizeof state};
  const struct iovec *kept = data;
  if (next(PTRACE_GETREGSET, process, address, &whole) != 0) return -1;
  if (kept->iov_len >= whole.iov_len) return next(request, process, address, data);
  memcpy(state, kept->iov_base, kept->iov_len);
  return next(request, process, address, &whole);
}
