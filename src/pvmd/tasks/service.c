/* service.c - see service.h. */
#include "service.h"
#include <stdlib.h>
#include "../core/error.h"
#include "../core/hash.h"
#include "../core/log.h"
#include "daemon.h"
#include "inbox.h"
#include "pvmproto.h"
#include "relay.h"
#include "stats.h"

static struct row {
    bool (*may_send)(pvmi_tid src);
    pvmd_service_handler *handler;
} rows[SM_LAST - SM_FIRST + 1];

/* What a task has begun to send. There is one for each that has a duty, at most. */
struct sender {
    pvmi_tid tid;
    struct pvmd_inbox inbox;
    UT_hash_handle hh;
};

static struct sender *senders;

/* ---- receiving ---- */

bool pvmd_service_is(const struct pvmi_frame_header *h)
{
    return h->tag >= SM_FIRST && h->tag <= SM_LAST;
}

void pvmd_service_handle(int tag, bool (*may_send)(pvmi_tid src), pvmd_service_handler *handler)
{
    rows[tag - SM_FIRST] = (struct row){.may_send = may_send, .handler = handler};
}

static struct sender *sender_of(pvmi_tid tid)
{
    struct sender *s;
    HASH_FIND_INT(senders, &tid, s);
    if (s)
        return s;
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->tid = tid;
    if (!PVMI_HASH_ADD(hh, senders, tid, s)) {
        free(s);
        return NULL;
    }
    return s;
}

static void drop(struct sender *s)
{
    HASH_DEL(senders, s);
    pvmd_inbox_clear(&s->inbox);
    free(s);
}

void pvmd_service_forget(pvmi_tid src)
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

static void complain(const struct pvmi_frame_header *h, const char *why)
{
    pvmd_stats.dropped++;
    pvmi_log(PVMI_LOG_WARNING, "message SM %#x of t%x ignored: %s", (unsigned)h->tag, h->src, why);
}

void pvmd_service_frame(const struct pvmi_frame *f)
{
    const struct row *row = &rows[f->h.tag - SM_FIRST];
    if (!row->handler || !row->may_send(f->h.src)) {
        if (pvmi_frame_is_last(&f->h))
            complain(&f->h, "it does not have that duty");
        return;
    }
    struct sender *s = sender_of(f->h.src);
    struct pvmi_message *whole = NULL;
    int rc = s ? pvmd_inbox_add(&s->inbox, f, &whole) : PVMI_ENOMEM;
    if (!rc && whole)
        rc = row->handler(whole);
    pvmi_message_unref(whole);
    if (rc)
        complain(&f->h, pvmi_error_text(rc));
    if (rc)
        pvmd_service_forget(f->h.src);
}

/* ---- making ---- */

struct pvmi_message *pvmd_service_new(int tag, int32_t wid)
{
    struct pvmi_message *m = pvmi_message_new(PVMI_ENC_DEFAULT);
    if (!m)
        return NULL;
    m->tag = tag;
    m->wid = wid;
    return m;
}

static void check(struct pvmi_message **m, int rc)
{
    if (!rc)
        return;
    pvmi_message_unref(*m);
    *m = NULL;
}

void pvmd_service_put_int(struct pvmi_message **m, int value)
{
    if (*m)
        check(m, pvmi_message_pack(*m, PVM_INT, &value, 1, 1));
}

void pvmd_service_put_text(struct pvmi_message **m, const char *text)
{
    if (*m)
        check(m, pvmi_message_pack_string(*m, text));
}

bool pvmd_service_send(struct pvmi_message *m, pvmi_tid dst)
{
    if (!m)
        return false;
    m->src = PVMI_TID_DAEMON | pvmd_host_tid();
    m->dst = dst;
    m->ctx = PvmBaseContext;
    if (pvmi_tid_host(dst) == pvmd_host_tid())
        m->src = PVMI_TID_DAEMON;
    pvmd_relay_message(m);
    pvmi_message_unref(m);
    return true;
}

/* ---- reading ---- */

int pvmd_service_get_int(struct pvmi_message *m, int *rc)
{
    int value = 0;
    if (!*rc)
        *rc = pvmi_message_unpack(m, PVM_INT, &value, 1, 1);
    return *rc ? 0 : value;
}

char *pvmd_service_get_text(struct pvmi_message *m, int *rc)
{
    int64_t bytes = *rc ? 0 : pvmi_message_string_bytes(m);
    if (!*rc && bytes < 0)
        *rc = (int)bytes;
    if (!*rc && bytes > PVMD_SERVICE_TEXT_MAX)
        *rc = PVMI_ELIMIT;
    char *text = *rc ? NULL : malloc((size_t)bytes);
    if (!*rc)
        *rc = text ? pvmi_message_unpack_string(m, text, (size_t)bytes) : PVMI_ENOMEM;
    if (!*rc)
        return text;
    free(text);
    return NULL;
}

char **pvmd_service_get_texts(struct pvmi_message *m, uint32_t *count, int *rc)
{
    int n = pvmd_service_get_int(m, rc);
    if (!*rc && (n < 0 || n > (int)PVMD_SERVICE_COUNT_MAX))
        *rc = PVMI_EFORMAT;
    char **texts = calloc((size_t)(*rc ? 0 : n) + 1, sizeof *texts);
    if (!texts)
        *rc = PVMI_ENOMEM;
    for (*count = 0; !*rc && *count < (uint32_t)n; ++*count)
        texts[*count] = pvmd_service_get_text(m, rc);
    return texts;
}
