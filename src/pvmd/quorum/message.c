/* message.c - see message.h. */
#include "message.h"
#include "core/error.h"

static void put_version(struct pvmc_buf *b, struct pvmd_version v)
{
    pvmc_buf_put_u32(b, v.term);
    pvmc_buf_put_u32(b, v.seq);
}

static void put_set(struct pvmc_buf *b, const struct pvmd_quorum_set *set)
{
    pvmc_buf_put_u32(b, set->count);
    for (unsigned i = 0; i < set->count; i++)
        pvmc_buf_put_u32(b, set->ids[i]);
}

/* In place of the tables, which travel ahead. Earlier versions do not read it. */
static void put_led(struct pvmc_buf *b, const struct pvmd_quorum_set *led)
{
    struct pvmc_buf data;
    pvmc_buf_init(&data);
    put_set(&data, led);
    pvmc_buf_put_blob(b, data.data, data.length);
    if (pvmc_buf_error(&data) && !b->error)
        b->error = pvmc_buf_error(&data);
    pvmc_buf_free(&data);
}

void pvmd_quorum_put(struct pvmc_buf *b, const struct pvmd_quorum_message *m)
{
    pvmc_buf_put_u8(b, (uint8_t)m->kind);
    pvmc_buf_put_u32(b, m->term);
    put_version(b, m->version);
    put_version(b, m->base);
    pvmc_buf_put_u32(b, m->committed);
    put_set(b, &m->now);
    put_set(b, &m->then);
    if (m->kind == PVMD_QUORUM_STATE)
        put_led(b, &m->led);
    else
        pvmc_buf_put_blob(b, m->data, m->length);
}

static struct pvmd_version get_version(struct pvmc_buf *b)
{
    struct pvmd_version v = {.term = pvmc_buf_get_u32(b)};
    v.seq = pvmc_buf_get_u32(b);
    return v;
}

static void get_set(struct pvmc_buf *b, uint32_t *room, uint32_t max, struct pvmd_quorum_set *set)
{
    uint32_t count = pvmc_buf_get_u32(b);
    if (count > max && !b->error)
        b->error = PVMC_ELIMIT;
    for (uint32_t i = 0; !b->error && i < count; i++)
        room[i] = pvmc_buf_get_u32(b);
    *set = (struct pvmd_quorum_set){.ids = room, .count = b->error ? 0 : count};
}

/* Earlier versions send none. */
static int get_led(struct pvmd_quorum_message *m)
{
    static uint32_t led[2 * PVMD_QUORUM_MAX];
    struct pvmc_buf data;
    pvmc_buf_view(&data, m->data, m->length);
    if (m->length)
        get_set(&data, led, 2 * PVMD_QUORUM_MAX, &m->led);
    m->data = NULL;
    m->length = 0;
    return pvmc_buf_end(&data);
}

int pvmd_quorum_get(struct pvmc_buf *b, struct pvmd_quorum_message *m)
{
    static uint32_t now[PVMD_QUORUM_MAX], then[PVMD_QUORUM_MAX];
    *m = (struct pvmd_quorum_message){.kind = pvmc_buf_get_u8(b), .term = pvmc_buf_get_u32(b)};
    m->version = get_version(b);
    m->base = get_version(b);
    m->committed = pvmc_buf_get_u32(b);
    get_set(b, now, PVMD_QUORUM_MAX, &m->now);
    get_set(b, then, PVMD_QUORUM_MAX, &m->then);
    m->data = pvmc_buf_get_blob(b, &m->length);
    int rc = pvmc_buf_end(b);
    if (!rc && m->kind == PVMD_QUORUM_STATE)
        rc = get_led(m);
    return rc || (m->kind >= PVMD_QUORUM_CHANGE && m->kind <= PVMD_QUORUM_REFUSED) ? rc : PVMC_EFORMAT;
}
