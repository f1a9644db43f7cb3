// Loaded before libsodium into a program under test: what Argon2id gave is kept in PLACE, a folder, and read from there when
// it is to be computed of the same inputs again, by whichever program.
//
// With STANDS_IN, an Argon2id that costs next to nothing stands in for one whose salt this process has drawn itself: whoever
// opens that later finds it in PLACE, and nobody else can know what it should be. A salt that stands in a test, or in a file that
// was made before, gets what it asks for. Only where no program without this library opens what was made.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// All inputs are in the name of a file, which has 255 bytes at most.
enum { LONGEST_SECRET = 64, SALT = crypto_pwhash_argon2id_SALTBYTES };

static char *put_hex(char *end, const void *bytes, size_t count) {
  for (size_t number = 0; number < count; number++) end += sprintf(end, "%02x", ((const unsigned char *)bytes)[number]);
  return end;
}

#ifdef STANDS_IN
// The second halves of salts that were drawn, each where its first half says. Of what was drawn over nothing is known.
static _Atomic uint64_t drawn[1 << 20];

static _Atomic uint64_t *place(const void *salt, uint64_t *half) {
  uint64_t halves[SALT / sizeof(uint64_t)];
  memcpy(halves, salt, SALT);
  *half = halves[1];
  return &drawn[halves[0] % (sizeof drawn / sizeof *drawn)];
}

void randombytes_buf(void *const bytes, const size_t count) {
  static _Atomic(void (*)(void *, size_t)) next;
  void (*draw)(void *, size_t) = next;
  if (!draw) next = draw = (__typeof__(draw))dlsym(RTLD_NEXT, "randombytes_buf");
  draw(bytes, count);
  if (count != SALT) return;
  uint64_t half;
  _Atomic uint64_t *slot = place(bytes, &half);
  *slot = half;
}

static bool is_own(const void *salt) {
  uint64_t half;
  return *place(salt, &half) == half && half != 0;
}
#else
static bool is_own(const void *salt) { return (void)salt, false; }
#endif

int crypto_pwhash_argon2id(unsigned char *const output, unsigned long long count, const char *const secret,
                           unsigned long long secret_count, const unsigned char *const salt, unsigned long long passes,
                           size_t memory, int algorithm) {
  __typeof__(&crypto_pwhash_argon2id) compute = (__typeof__(compute))dlsym(RTLD_NEXT, "crypto_pwhash_argon2id");
  if (secret_count > LONGEST_SECRET)
    return compute(output, count, secret, secret_count, salt, passes, memory, algorithm);
  char path[sizeof PLACE + 300], unfinished[sizeof path + 20];
  char *end = path + sprintf(path, PLACE "/%llu-%llu-%zu-%d-", count, passes, memory, algorithm);
  end = put_hex(end, salt, SALT);
  end += sprintf(end, "-");
  put_hex(end, secret, secret_count);

  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t found = read(file, output, count);
    close(file);
    if (found == (ssize_t)count) return 0;
  }
  bool stands_in = is_own(salt);
  int status = compute(output, count, secret, secret_count, salt, stands_in ? crypto_pwhash_argon2id_OPSLIMIT_MIN : passes,
                       stands_in ? crypto_pwhash_argon2id_MEMLIMIT_MIN : memory, algorithm);
  if (status != 0) return status;
  snprintf(unfinished, sizeof unfinished, "%s.%d", path, (int)getpid());
  file = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return status;
  ssize_t written = write(file, output, count);
  close(file);
  if (written == (ssize_t)count) rename(unfinished, path);
  return status;
}
