#include "CTokens.h"

#include <stdlib.h>
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_rc.h>
#include <tss2/tss2_tctildr.h>

// The storage root key of TCG's "TPM v2.0 Provisioning Guidance", 7.5.1, for ECC P-256: made anew from the TPM's seed each
// time, so that nothing has to be kept in it.
static const TPM2B_PUBLIC storage_root = {
    .size = 0,
    .publicArea = {
        .type = TPM2_ALG_ECC,
        .nameAlg = TPM2_ALG_SHA256,
        .objectAttributes = TPMA_OBJECT_RESTRICTED | TPMA_OBJECT_DECRYPT | TPMA_OBJECT_FIXEDTPM |
                            TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
                            TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA,
        .parameters.eccDetail = {
            .symmetric = {.algorithm = TPM2_ALG_AES,
                          .keyBits.aes = 128,
                          .mode.aes = TPM2_ALG_CFB},
            .scheme.scheme = TPM2_ALG_NULL,
            .curveID = TPM2_ECC_NIST_P256,
            .kdf.scheme = TPM2_ALG_NULL},
    }};

// A connection with the storage root key loaded, and a session whose parameters are encrypted for that key: what is sealed
// and unsealed does not stand on the bus.
typedef struct {
  TSS2_TCTI_CONTEXT *tcti;
  ESYS_CONTEXT *esys;
  ESYS_TR root;
  ESYS_TR session;
} connection;

static void disconnect(connection *tpm) {
  if (tpm->esys) {
    if (tpm->session != ESYS_TR_NONE) Esys_FlushContext(tpm->esys, tpm->session);
    if (tpm->root != ESYS_TR_NONE) Esys_FlushContext(tpm->esys, tpm->root);
    Esys_Finalize(&tpm->esys);
  }
  if (tpm->tcti) Tss2_TctiLdr_Finalize(&tpm->tcti);
}

static TSS2_RC connect(const char *tcti, connection *tpm) {
  // The library says on standard error what it tries. What failed is the caller's to tell.
  setenv("TSS2_LOG", "all+NONE", 0);
  *tpm = (connection){.root = ESYS_TR_NONE, .session = ESYS_TR_NONE};
  TSS2_RC rc = Tss2_TctiLdr_Initialize(tcti, &tpm->tcti);
  if (rc) return rc;
  rc = Esys_Initialize(&tpm->esys, tpm->tcti, NULL);
  // A TPM that only a program made may not have been started yet.
  if (!rc) rc = Esys_Startup(tpm->esys, TPM2_SU_CLEAR);
  if (rc == TPM2_RC_INITIALIZE) rc = 0;
  TPM2B_SENSITIVE_CREATE nothing = {0};
  TPM2B_DATA outside = {0};
  TPML_PCR_SELECTION no_pcrs = {0};
  if (!rc)
    rc = Esys_CreatePrimary(tpm->esys, ESYS_TR_RH_OWNER, ESYS_TR_PASSWORD, ESYS_TR_NONE, ESYS_TR_NONE,
                            &nothing, &storage_root, &outside, &no_pcrs, &tpm->root, NULL, NULL, NULL,
                            NULL);
  TPMT_SYM_DEF aes = {.algorithm = TPM2_ALG_AES, .keyBits.aes = 128, .mode.aes = TPM2_ALG_CFB};
  if (!rc)
    rc = Esys_StartAuthSession(tpm->esys, tpm->root, ESYS_TR_NONE, ESYS_TR_NONE, ESYS_TR_NONE,
                               ESYS_TR_NONE, NULL, TPM2_SE_HMAC, &aes, TPM2_ALG_SHA256, &tpm->session);
  if (!rc)
    rc = Esys_TRSess_SetAttributes(
        tpm->esys, tpm->session,
        TPMA_SESSION_CONTINUESESSION | TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT, 0xff);
  if (rc) disconnect(tpm);
  return rc;
}

static void erase(void *memory, size_t size) {
  volatile uint8_t *bytes = memory;
  while (size--) *bytes++ = 0;
}

uint32_t kv_tpm_seal(const char *tcti, const uint8_t *secret, size_t secret_size,
                     const uint8_t *pin_hash, kv_tpm_object *object) {
  TPM2B_SENSITIVE_CREATE sensitive = {0};
  if (secret_size > sizeof sensitive.sensitive.data.buffer) return TSS2_BASE_RC_BAD_SIZE;
  connection tpm;
  TSS2_RC rc = connect(tcti, &tpm);
  if (rc) return rc;
  sensitive.sensitive.data.size = secret_size;
  memcpy(sensitive.sensitive.data.buffer, secret, secret_size);
  TPM2B_PUBLIC template = {
      .publicArea = {.type = TPM2_ALG_KEYEDHASH,
                     .nameAlg = TPM2_ALG_SHA256,
                     .objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT |
                                         TPMA_OBJECT_USERWITHAUTH,
                     .parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL}};
  if (pin_hash) {
    sensitive.sensitive.userAuth.size = TPM2_SHA256_DIGEST_SIZE;
    memcpy(sensitive.sensitive.userAuth.buffer, pin_hash, TPM2_SHA256_DIGEST_SIZE);
  } else {
    // Nothing to guess, nothing to lock out.
    template.publicArea.objectAttributes |= TPMA_OBJECT_NODA;
  }
  TPM2B_DATA outside = {0};
  TPML_PCR_SELECTION no_pcrs = {0};
  TPM2B_PRIVATE *private_area = NULL;
  TPM2B_PUBLIC *public_area = NULL;
  rc = Esys_Create(tpm.esys, tpm.root, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &sensitive, &template,
                   &outside, &no_pcrs, &private_area, &public_area, NULL, NULL, NULL);
  erase(&sensitive, sizeof sensitive);
  object->private_size = object->public_size = 0;
  if (!rc)
    rc = Tss2_MU_TPM2B_PRIVATE_Marshal(private_area, object->private_area,
                                       sizeof object->private_area, &object->private_size);
  if (!rc)
    rc = Tss2_MU_TPM2B_PUBLIC_Marshal(public_area, object->public_area, sizeof object->public_area,
                                      &object->public_size);
  Esys_Free(private_area);
  Esys_Free(public_area);
  disconnect(&tpm);
  return rc;
}

uint32_t kv_tpm_unseal(const char *tcti, const kv_tpm_object *object, const uint8_t *pin_hash,
                       uint8_t *secret, size_t *secret_size) {
  TPM2B_PUBLIC public_area = {0};
  TPM2B_PRIVATE private_area = {0};
  size_t offset = 0;
  TSS2_RC rc = Tss2_MU_TPM2B_PUBLIC_Unmarshal(object->public_area, object->public_size, &offset,
                                              &public_area);
  offset = 0;
  if (!rc)
    rc = Tss2_MU_TPM2B_PRIVATE_Unmarshal(object->private_area, object->private_size, &offset,
                                         &private_area);
  if (rc) return rc;
  connection tpm;
  rc = connect(tcti, &tpm);
  if (rc) return rc;
  ESYS_TR sealed = ESYS_TR_NONE;
  rc = Esys_Load(tpm.esys, tpm.root, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &private_area,
                 &public_area, &sealed);
  if (!rc && pin_hash) {
    TPM2B_AUTH auth = {.size = TPM2_SHA256_DIGEST_SIZE};
    memcpy(auth.buffer, pin_hash, TPM2_SHA256_DIGEST_SIZE);
    rc = Esys_TR_SetAuth(tpm.esys, sealed, &auth);
    erase(&auth, sizeof auth);
  }
  TPM2B_SENSITIVE_DATA *data = NULL;
  if (!rc) rc = Esys_Unseal(tpm.esys, sealed, tpm.session, ESYS_TR_NONE, ESYS_TR_NONE, &data);
  if (!rc) {
    if (data->size <= *secret_size) {
      memcpy(secret, data->buffer, data->size);
      *secret_size = data->size;
    } else {
      rc = TSS2_BASE_RC_BAD_SIZE;
    }
    erase(data, sizeof *data);
  }
  Esys_Free(data);
  if (sealed != ESYS_TR_NONE) Esys_FlushContext(tpm.esys, sealed);
  disconnect(&tpm);
  return rc;
}

const char *kv_tpm_describe(uint32_t code) { return Tss2_RC_Decode(code); }

enum kv_tpm_failure kv_tpm_classify(uint32_t code) {
  uint32_t layer = code & TSS2_RC_LAYER_MASK;
  if (layer == TSS2_TCTI_RC_LAYER || layer == TSS2_ESAPI_RC_LAYER) {
    uint32_t base = code & ~TSS2_RC_LAYER_MASK;
    return base == TSS2_BASE_RC_IO_ERROR || base == TSS2_BASE_RC_NO_CONNECTION ||
                   base == TSS2_BASE_RC_NOT_SUPPORTED || base == TSS2_BASE_RC_NOT_PERMITTED
               ? KV_TPM_NONE_HERE
               : KV_TPM_OTHER;
  }
  if (code == TPM2_RC_LOCKOUT) return KV_TPM_LOCKED_OUT;
  // Of format-one codes without the number of the parameter, handle or session.
  if (layer == 0 && (code & TPM2_RC_FMT1)) {
    switch (code & (TPM2_RC_FMT1 | 0x3f)) {
      case TPM2_RC_AUTH_FAIL:
      case TPM2_RC_BAD_AUTH:
        return KV_TPM_WRONG_PIN;
      case TPM2_RC_INTEGRITY:
        return KV_TPM_OTHERS_OBJECT;
    }
  }
  return KV_TPM_OTHER;
}
