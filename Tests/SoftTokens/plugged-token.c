// Loaded before libfido2 into a program under test: a token in the tests' own process is plugged in, and nothing else is.
// KINVAULT_TEST_TOKEN is the socket by which reports go there, of 64 bytes each.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fido.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { REPORT = 64 };

static void *open_token(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *where = getenv("KINVAULT_TEST_TOKEN");
  (void)path;
  if (!where || strlen(where) >= sizeof address.sun_path) return NULL;
  strcpy(address.sun_path, where);
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) return NULL;
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
    close(fd);
    return NULL;
  }
  return (void *)(intptr_t)(fd + 1);
}

static int number(void *handle) { return (int)(intptr_t)handle - 1; }

static void close_token(void *handle) { close(number(handle)); }

static int read_token(void *handle, unsigned char *bytes, size_t count, int milliseconds) {
  struct pollfd wait = {.fd = number(handle), .events = POLLIN};
  if (poll(&wait, 1, milliseconds) != 1) return -1;
  return (int)recv(number(handle), bytes, count < REPORT ? count : REPORT, 0);
}

static int write_token(void *handle, const unsigned char *bytes, size_t count) {
  // The first byte is the number of the report.
  if (count != REPORT + 1 || send(number(handle), bytes + 1, REPORT, MSG_NOSIGNAL) != REPORT) return -1;
  return (int)count;
}

static const fido_dev_io_t io = {open_token, close_token, read_token, write_token};

int fido_dev_info_manifest(fido_dev_info_t *list, size_t limit, size_t *count) {
  *count = 0;
  if (!getenv("KINVAULT_TEST_TOKEN") || limit == 0) return FIDO_OK;
  int status = fido_dev_info_set(list, 0, "soft", "Kinvault", "token in software", &io, NULL);
  if (status == FIDO_OK) *count = 1;
  return status;
}

int fido_dev_open(fido_dev_t *device, const char *path) {
  int (*next)(fido_dev_t *, const char *) = (int (*)(fido_dev_t *, const char *))dlsym(RTLD_NEXT, "fido_dev_open");
  int status = fido_dev_set_io_functions(device, &io);
  return status == FIDO_OK ? next(device, path) : status;
}
