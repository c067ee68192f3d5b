/* service.c - see service.h. */
#include "service.h"
#include <stdlib.h>
#include "core/error.h"
#include "core/hash.h"
#include "core/log.h"
#include "pvmd/base/self.h"
#include "pvmd/frames/reassembly.h"
#include "pvmproto.h"
#include "pvmd/frames/relay.h"
#include "pvmd/base/stats.h"

static struct row {
    bool (*may_send)(pvmc_tid src);
    pvmd_service_handler *handler;
} rows[SM_LAST - SM_FIRST + 1];

/* A message that a task with a duty has begun to send. */
struct sender {
    pvmc_tid tid;
    struct pvmd_reassembly message;
    UT_hash_handle hh;
};

static struct sender *senders;

/* ---- receiving ---- */

bool pvmd_service_is(const struct pvmc_frame_header *h)
{
    return h->tag >= SM_FIRST && h->tag <= SM_LAST;
}

void pvmd_service_handle(int tag, bool (*may_send)(pvmc_tid src), pvmd_service_handler *handler)
{
    rows[tag - SM_FIRST] = (struct row){.may_send = may_send, .handler = handler};
}

static struct sender *sender_of(pvmc_tid tid)
{
    struct sender *s;
    HASH_FIND_INT(senders, &tid, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->tid = tid;
    if (!PVMC_HASH_ADD(hh, senders, tid, s)) {
        free(s);
        return NULL;
    }
    return s;
}

static void drop(struct sender *s)
{
    HASH_DEL(senders, s);
    pvmd_reassembly_clear(&s->message);
    free(s);
}

void pvmd_service_forget(pvmc_tid src)
{
    struct sender *s;
    HASH_FIND_INT(senders, &src, s);
    if (s)
        drop(s);
}

void pvmd_service_stop(void)
{
    struct sender *s, *next;
    HASH_ITER (hh, senders, s, next)
        drop(s);
}

static void complain(const struct pvmc_frame_header *h, const char *why)
{
    pvmd_stats.dropped++;
    pvmc_log(PVMC_LOG_WARNING, "message SM %#x of t%x ignored: %s", (unsigned)h->tag, h->src, why);
}

void pvmd_service_frame(const struct pvmc_frame *f)
{
    const struct row *row = &rows[f->h.tag - SM_FIRST];
    if (!row->handler || !row->may_send(f->h.src)) {
        if (pvmc_frame_is_last(&f->h))
            complain(&f->h, "it does not have that duty");
        return;
    }
    struct sender *s = sender_of(f->h.src);
    struct pvmc_message *whole = NULL;
    int rc = s ? pvmd_reassembly_add(&s->message, f, &whole) : PVMC_ENOMEM;
    if (!rc && whole)
        rc = row->handler(whole);
    pvmc_message_unref(whole);
    if (rc)
        complain(&f->h, pvmc_error_text(rc));
    if (rc)
        pvmd_service_forget(f->h.src);
}

/* ---- building ---- */

struct pvmc_message *pvmd_service_new(int tag, int32_t wid)
{
    struct pvmc_message *m = pvmc_message_new(PVMC_ENC_DEFAULT);
    if (!m)
        return NULL;
    m->tag = tag;
    m->wid = wid;
    return m;
}

static void check(struct pvmc_message **m, int rc)
{
    if (!rc)
        return;
    pvmc_message_unref(*m);
    *m = NULL;
}

void pvmd_service_put_int(struct pvmc_message **m, int value)
{
    if (*m)
        check(m, pvmc_message_pack(*m, PVM_INT, &value, 1, 1));
}

void pvmd_service_put_text(struct pvmc_message **m, const char *text)
{
    if (*m)
        check(m, pvmc_message_pack_string(*m, text));
}

bool pvmd_service_send(struct pvmc_message *m, pvmc_tid dst)
{
    if (!m)
        return false;
    m->src = PVMC_TID_DAEMON | pvmd_host_tid();
    m->dst = dst;
    m->ctx = PvmBaseContext;
    if (pvmc_tid_host(dst) == pvmd_host_tid())
        m->src = PVMC_TID_DAEMON;
    pvmd_relay_message(m);
    pvmc_message_unref(m);
    return true;
}

/* ---- reading ---- */

int pvmd_service_get_int(struct pvmc_message *m, int *rc)
{
    int value = 0;
    if (!*rc)
        *rc = pvmc_message_unpack(m, PVM_INT, &value, 1, 1);
    return *rc ? 0 : value;
}

char *pvmd_service_get_text(struct pvmc_message *m, int *rc)
{
    int64_t bytes = *rc ? 0 : pvmc_message_string_bytes(m);
    if (!*rc && bytes < 0)
        *rc = (int)bytes;
    if (!*rc && bytes > PVMD_SERVICE_TEXT_MAX)
        *rc = PVMC_ELIMIT;
    char *text = *rc ? NULL : malloc((size_t)bytes);
    if (!*rc)
        *rc = text ? pvmc_message_unpack_string(m, text, (size_t)bytes) : PVMC_ENOMEM;
    if (!*rc)
        return text;
    free(text);
    return NULL;
}

char **pvmd_service_get_texts(struct pvmc_message *m, uint32_t *count, int *rc)
{
    int n = pvmd_service_get_int(m, rc);
    if (!*rc && (n < 0 || n > (int)PVMD_SERVICE_COUNT_MAX))
        *rc = PVMC_EFORMAT;
    char **texts = calloc((size_t)(*rc ? 0 : n) + 1, sizeof *texts);
    if (!texts)
        *rc = PVMC_ENOMEM;
    for (*count = 0; !*rc && *count < (uint32_t)n; ++*count)
        texts[*count] = pvmd_service_get_text(m, rc);
    return texts;
}
