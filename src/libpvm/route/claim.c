/* claim.c - see claim.h. */
#include "claim.h"
#include "core/error.h"
#include "libpvm/base/lock.h"
#include "transfer.h"
#include "libpvm/engine/wait.h"

static bool are_free(void *arg)
{
    const struct pvmi_claim *c = arg;
    for (unsigned i = 0; i < c->count; i++)
        if (c->peers[i]->claimed)
            return false;
    return true;
}

static int resume_abandoned(const struct pvmi_claim *c)
{
    int rc = 0;
    for (unsigned i = 0; i < c->count && !rc; i++)
        rc = c->peers[i]->abandoned ? pvmi_transfer_resume(c->peers[i]) : 0;
    return rc;
}

int pvmi_claim(struct pvmi_claim *c)
{
    for (unsigned i = 0; i < c->count; i++)
        pvmi_peer_use(c->peers[i]);
    int rc = resume_abandoned(c);
    if (!rc)
        rc = are_free(c) ? 0 : pvmi_wait_until(are_free, c, PVMI_WAIT_FOREVER);
    for (unsigned i = 0; i < c->count; i++)
        if (rc)
            pvmi_peer_put(c->peers[i]);
        else
            c->peers[i]->claimed = true;
    return rc;
}

void pvmi_claim_end(struct pvmi_claim *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        c->peers[i]->claimed = false;
        pvmi_peer_put(c->peers[i]);
    }
    pvmi_lock_news = true;
}

struct pvmc_message *pvmi_claim_message(struct pvmc_message *m)
{
    if (!pvmi_lock_is_ours() || pvmc_message_is_inplace(m))
        return pvmc_message_ref(m);
    struct pvmc_message *twin = pvmc_message_twin(m, m->enc);
    if (twin)
        pvmc_message_share(twin, m);
    return twin;
}
