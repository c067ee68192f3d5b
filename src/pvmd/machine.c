/* machine.c - the machine's id and secret. */
#include "machine.h"
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>
#include "../core/error.h"
#include "../core/log.h"

struct pvmd_machine pvmd_machine;
struct pvmd_door pvmd_door;

static int make_door(void)
{
    static const uint8_t label[] = "dpvm door";
    memcpy(pvmd_door.machine_id, pvmd_machine.id, sizeof pvmd_door.machine_id);
    if (HMAC(EVP_sha256(), pvmd_machine.secret, sizeof pvmd_machine.secret, label, sizeof label - 1, pvmd_door.key,
             NULL))
        return 0;
    pvmi_log(PVMI_LOG_ERROR, "cannot compute HMAC-SHA256: OpenSSL is unusable");
    return PVMI_ESYSTEM;
}

int pvmd_machine_new(void)
{
    if (RAND_bytes(pvmd_machine.id, sizeof pvmd_machine.id) == 1 &&
        RAND_priv_bytes(pvmd_machine.secret, sizeof pvmd_machine.secret) == 1)
        return make_door();
    pvmi_log(PVMI_LOG_ERROR, "no random numbers for the machine's secret");
    return PVMI_ESYSTEM;
}

int pvmd_machine_join(const struct pvmd_machine *m)
{
    pvmd_machine = *m;
    return make_door();
}
