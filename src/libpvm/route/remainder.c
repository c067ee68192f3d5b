/* remainder.c - see remainder.h. */
#include "remainder.h"
#include "core/error.h"
#include "core/message/partial.h"
#include "libpvm/base/gauges.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/engine/wait.h"

struct awaited {
    const struct pvmc_message *m;
    int mid;         /* 0: the caller has a reference to m */
    uint64_t length; /* of m */
};

/* The message, unless another thread has freed it. */
static const struct pvmc_message *message_of(const struct awaited *a)
{
    return !a->mid || pvmi_buffer_find(a->mid) == a->m ? a->m : NULL;
}

/* pvmi_condition */
static bool is_there(void *arg)
{
    const struct awaited *a = arg;
    const struct pvmc_message *m = message_of(a);
    return !m || m->partial != PVMC_PARTIAL_GROWS || m->length >= a->length;
}

static int await(struct awaited *a)
{
    if (!is_there(a)) {
        struct pvmi_gauges_wait outer = pvmi_gauges_begin(PVMC_GAUGES_RECEIVES, (int)a->m->src, a->m->tag);
        int rc = pvmi_wait_for_message(is_there, a, PVMI_WAIT_FOREVER);
        pvmi_gauges_end(&outer);
        if (rc)
            return rc;
    }
    const struct pvmc_message *m = message_of(a);
    return m && m->partial < 0 && m->length < a->length ? m->partial : 0;
}

int pvmi_remainder_await(uint64_t bytes)
{
    const struct pvmc_message *m = pvmi_receive_buffer.m;
    if (!m || !m->partial)
        return 0;
    struct awaited a = {m, pvmi_receive_buffer.mid, m->position + bytes};
    return await(&a);
}

int pvmi_remainder_await_items(int type, int n)
{
    const struct pvmc_message *m = pvmi_receive_buffer.m;
    return m && m->partial && n > 0 ? pvmi_remainder_await((uint64_t)n * pvmc_type_bytes(type, m->dsig)) : 0;
}

int pvmi_remainder_await_all(int mid)
{
    const struct pvmc_message *m = pvmi_buffer_find(mid);
    if (!m || !m->partial)
        return 0;
    struct awaited a = {m, mid, UINT64_MAX};
    return await(&a);
}

int pvmi_remainder_await_message(const struct pvmc_message *m)
{
    struct awaited a = {m, 0, UINT64_MAX};
    return m->partial ? await(&a) : 0;
}
