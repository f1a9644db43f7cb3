// Loaded before libsodium into a program under test: what Argon2id gave is kept in PLACE, a folder, and read from there when
// it is to be computed of the same inputs again, by whichever program.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <unistd.h>

// All inputs are in the name of a file, which has 255 bytes at most.
enum { LONGEST_SECRET = 64 };

static char *put_hex(char *end, const void *bytes, size_t count) {
  for (size_t number = 0; number < count; number++) end += sprintf(end, "%02x", ((const unsigned char *)bytes)[number]);
  return end;
}

int crypto_pwhash_argon2id(unsigned char *const output, unsigned long long count, const char *const secret,
                           unsigned long long secret_count, const unsigned char *const salt, unsigned long long passes,
                           size_t memory, int algorithm) {
  __typeof__(&crypto_pwhash_argon2id) compute = (__typeof__(compute))dlsym(RTLD_NEXT, "crypto_pwhash_argon2id");
  if (secret_count > LONGEST_SECRET)
    return compute(output, count, secret, secret_count, salt, passes, memory, algorithm);
  char path[sizeof PLACE + 300], unfinished[sizeof path + 20];
  char *end = path + sprintf(path, PLACE "/%llu-%llu-%zu-%d-", count, passes, memory, algorithm);
  end = put_hex(end, salt, crypto_pwhash_argon2id_SALTBYTES);
  end += sprintf(end, "-");
  put_hex(end, secret, secret_count);

  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t found = read(file, output, count);
    close(file);
    if (found == (ssize_t)count) return 0;
  }
  int status = compute(output, count, secret, secret_count, salt, passes, memory, algorithm);
  if (status != 0) return status;
  snprintf(unfinished, sizeof unfinished, "%s.%d", path, (int)getpid());
  file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return status;
  ssize_t written = write(file, output, count);
  close(file);
  if (written == (ssize_t)count) rename(unfinished, path);
  return status;
}
