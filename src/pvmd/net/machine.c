/* machine.c - the machine's id and secret. */
#include "machine.h"
#include <errno.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>
#include "core/error.h"
#include "core/log.h"

struct pvmd_secrets *pvmd_secrets;

/* Makes room for the secrets. Old kernels lack some of the protections; the secret is then as safe as other memory. */
static int make_room(void)
{
    if (pvmd_secrets)
        return 0;
    void *room = mmap(NULL, sizeof *pvmd_secrets, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) {
        pvmc_log(PVMC_LOG_ERROR, "no memory for the machine's secret");
        return PVMC_ENOMEM;
    }
    madvise(room, sizeof *pvmd_secrets, MADV_DONTDUMP);
    madvise(room, sizeof *pvmd_secrets, MADV_WIPEONFORK);
    if (mlock(room, sizeof *pvmd_secrets))
        pvmc_log(PVMC_LOG_WARNING, "the machine's secret may be swapped: %s (raise 'ulimit -l')", strerror(errno));
    pvmd_secrets = room;
    return 0;
}

static int make_door(void)
{
    static const uint8_t label[] = "dpvm door";
    const struct pvmd_machine *m = &pvmd_secrets->machine;
    struct pvmd_door *door = &pvmd_secrets->door;
    memcpy(door->machine_id, m->id, sizeof door->machine_id);
    if (HMAC(EVP_sha256(), m->secret, sizeof m->secret, label, sizeof label - 1, door->key, NULL))
        return 0;
    pvmc_log(PVMC_LOG_ERROR, "cannot compute HMAC-SHA256: OpenSSL is unusable");
    return PVMC_ESYSTEM;
}

int pvmd_machine_new(void)
{
    if (make_room())
        return PVMC_ENOMEM;
    struct pvmd_machine *m = &pvmd_secrets->machine;
    if (RAND_bytes(m->id, sizeof m->id) == 1 && RAND_priv_bytes(m->secret, sizeof m->secret) == 1)
        return make_door();
    pvmc_log(PVMC_LOG_ERROR, "no random numbers for the machine's secret");
    return PVMC_ESYSTEM;
}

int pvmd_machine_join(const struct pvmd_machine *m)
{
    if (make_room())
        return PVMC_ENOMEM;
    pvmd_secrets->machine = *m;
    return make_door();
}
