#pragma once
#include <stddef.h>
#include <stdint.h>

/// What a sealed object of a TPM consists of, as TPM2B structures: what goes into a slot.
typedef struct {
  uint8_t public_area[1024];
  size_t public_size;
  uint8_t private_area[1024];
  size_t private_size;
} kv_tpm_object;

/// Seals `secret` (at most 128 bytes) below the storage root key of the TPM that `tcti` names ("device:/dev/tpmrm0",
/// say). With a PIN, which may be NULL, the object's authorization is its SHA-256, under the TPM's lockout.
///
/// Returns 0, or the TSS2_RC of the call that failed.
uint32_t kv_tpm_seal(const char *tcti, const uint8_t *secret, size_t secret_size,
                     const uint8_t *pin_hash, kv_tpm_object *object);

/// The secret of a sealed object, into `secret`, which has room for `*secret_size` bytes; sets that to what it has.
uint32_t kv_tpm_unseal(const char *tcti, const kv_tpm_object *object, const uint8_t *pin_hash,
                       uint8_t *secret, size_t *secret_size);

/// What a TSS2_RC means.
const char *kv_tpm_describe(uint32_t code);

/// The kinds of failure that a person can do something about.
enum kv_tpm_failure {
  KV_TPM_OTHER = 0,
  KV_TPM_NONE_HERE = 1,
  KV_TPM_WRONG_PIN = 2,
  KV_TPM_LOCKED_OUT = 3,
  KV_TPM_OTHERS_OBJECT = 4,
};
enum kv_tpm_failure kv_tpm_classify(uint32_t code);

/// The desktop's keyring, by libsecret, which is loaded when it is first asked for. All of these return 0; 1 where
/// nothing is kept under these names; -1 where there is no libsecret or no keyring that answers, with a text in `error`
/// for `free`.
int kv_keyring_store(const char *vault, const char *slot, const char *label, const char *secret,
                     char **error);
/// `*secret` is to be given to `kv_keyring_free`.
int kv_keyring_load(const char *vault, const char *slot, char **secret, char **error);
int kv_keyring_remove(const char *vault, const char *slot, char **error);
/// Erases a secret and lets go of its memory.
void kv_keyring_free(char *secret);
