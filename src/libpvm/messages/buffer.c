/* buffer.c - the table of message buffers, and the calls that deal with whole buffers. */
#include "buffer.h"
#include <limits.h>
#include <stdlib.h>
#include "../core/error.h"
#include "../core/log.h"
#include "call.h"
#include "perror.h"
#include "task.h"
#include "trace.h"

#define FIRST_SLOTS 64

struct slot {
    struct pvmi_message *m;       /* NULL: free */
    struct pvmi_waiting *waiting; /* the message is in the inbox, which owns the reference */
    int next_free;                /* mid of the next free slot, 0: none */
};

struct pvmi_active pvmi_send_buffer, pvmi_receive_buffer;

static struct slot *slots; /* mid - 1 */
static int slot_count, first_free;

static __attribute__((noinline)) int add_slots(void)
{
    int count = slot_count ? 2 * slot_count : FIRST_SLOTS;
    struct slot *bigger = slot_count > INT_MAX / 2 ? NULL : realloc(slots, count * sizeof *slots);
    if (!bigger) {
        pvmi_log(PVMI_LOG_ERROR, "no memory for more than %d message buffers", slot_count);
        return PVMI_ENOMEM;
    }
    slots = bigger;
    for (int i = count - 1; i >= slot_count; i--) {
        slots[i] = (struct slot){.next_free = first_free};
        first_free = i + 1;
    }
    slot_count = count;
    return 0;
}

static int slot_take(struct pvmi_message *m, struct pvmi_waiting *w)
{
    if (!first_free) {
        int rc = add_slots();
        if (rc)
            return rc;
    }
    int mid = first_free;
    struct slot *s = &slots[mid - 1];
    first_free = s->next_free;
    *s = (struct slot){.m = m, .waiting = w};
    return mid;
}

static void slot_free(int mid)
{
    slots[mid - 1] = (struct slot){.next_free = first_free};
    first_free = mid;
}

int pvmi_buffer_add(struct pvmi_message *m)
{
    int mid = slot_take(m, NULL);
    if (mid < 0)
        pvmi_message_unref(m);
    return mid;
}

int pvmi_buffer_of_waiting(struct pvmi_waiting *w)
{
    if (!w->mid) {
        int mid = slot_take(w->m, w);
        if (mid < 0)
            return mid;
        w->mid = mid;
    }
    return w->mid;
}

void pvmi_buffer_taken(int mid)
{
    slots[mid - 1].waiting = NULL;
}

struct pvmi_message *pvmi_buffer_find(int mid)
{
    return mid > 0 && mid <= slot_count ? slots[mid - 1].m : NULL;
}

int pvmi_buffer_get(int mid, struct pvmi_message **m)
{
    *m = pvmi_buffer_find(mid);
    return *m ? 0 : mid <= 0 ? PvmBadParam : PvmNoSuchBuf;
}

void pvmi_buffer_free(int mid)
{
    struct slot *s = &slots[mid - 1];
    if (s->waiting) {
        int same;
        pvmi_inbox_take(s->waiting, &same);
    }
    if (pvmi_send_buffer.mid == mid)
        pvmi_send_buffer = (struct pvmi_active){0};
    if (pvmi_receive_buffer.mid == mid)
        pvmi_receive_buffer = (struct pvmi_active){0};
    struct pvmi_message *m = s->m;
    slot_free(mid);
    pvmi_message_unref(m);
}

int pvmi_buffer_append(struct pvmi_message *to, const struct pvmi_message *from)
{
    if (!pvmi_message_is_inplace(from))
        return from->length ? pvmi_message_pack_bytes(to, from->mem->data, from->length) : 0;
    uint64_t start = to->length;
    int rc = 0;
    for (unsigned i = 0; i < from->inplace_count && !rc; i++)
        rc = pvmi_message_pack_bytes(to, from->inplace[i].iov_base, from->inplace[i].iov_len);
    if (rc)
        to->length = start;
    return rc;
}

/* A buffer that is active on the one side cannot be so on the other. */
static int select_buffer(struct pvmi_active *side, struct pvmi_active *other, int mid)
{
    int old = side->mid;
    if (mid && other->mid == mid)
        *other = (struct pvmi_active){0};
    side->mid = mid;
    side->m = pvmi_buffer_find(mid);
    return old;
}

int pvmi_buffer_select_send(int mid)
{
    return select_buffer(&pvmi_send_buffer, &pvmi_receive_buffer, mid);
}

int pvmi_buffer_select_receive(int mid)
{
    return select_buffer(&pvmi_receive_buffer, &pvmi_send_buffer, mid);
}

__attribute__((destructor)) static void free_all(void)
{
    for (int mid = 1; mid <= slot_count; mid++)
        if (slots[mid - 1].m)
            pvmi_buffer_free(mid);
    free(slots);
    slots = NULL;
    slot_count = first_free = 0;
}

/* ---- public calls ---- */

/* The encoding word that a program's choice stands for; 0: there is no such choice. */
static uint32_t encoding_word(int encoding)
{
    switch (encoding) {
    case PvmDataDefault:
        return PVMI_ENC_DEFAULT;
    case PvmDataTrace:
        return PVMI_ENC_TRACE;
    case PvmDataRaw:
        return pvmi_dsig_own();
    case PvmDataInPlace:
        return PVMI_ENC_INPLACE;
    default:
        return 0;
    }
}

static int make_buffer(uint32_t enc)
{
    struct pvmi_message *m = enc ? pvmi_message_new(enc) : NULL;
    if (!m)
        return enc ? PVMI_ENOMEM : PVMI_EPARAM;
    int rc = enc == PVMI_ENC_TRACE ? pvmi_trace_open_user(m) : 0;
    if (!rc)
        return pvmi_buffer_add(m);
    pvmi_message_unref(m);
    return rc;
}

int pvm_mkbuf(int encoding)
{
    PVMI_BEGIN(TEV_MKBUF, PVMI_INT(ME, encoding));
    int rc = pvmi_return("pvm_mkbuf", make_buffer(encoding_word(encoding)));
    PVMI_END(TEV_MKBUF, PVMI_INT(MB, rc));
    return rc;
}

/* The message of the old send buffer serves again, under a new number. */
static int renew_send_buffer(uint32_t enc)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    int mid = slot_take(m, NULL);
    if (mid > 0) {
        slot_free(pvmi_send_buffer.mid);
        pvmi_message_renew(m, enc);
        pvmi_send_buffer.mid = mid;
    }
    return mid;
}

static int replace_send_buffer(uint32_t enc)
{
    int old = pvmi_send_buffer.mid;
    if (enc && enc != PVMI_ENC_TRACE && old && pvmi_send_buffer.m->refs == 1 && !slots[old - 1].waiting)
        return renew_send_buffer(enc);
    int mid = make_buffer(enc);
    if (mid > 0) {
        if (old)
            pvmi_buffer_free(old);
        pvmi_buffer_select_send(mid);
    }
    return mid;
}

static int begin_message(int encoding)
{
    return pvmi_return("pvm_initsend", replace_send_buffer(encoding_word(encoding)));
}

static PVMI_COLD int watched_initsend(int encoding)
{
    PVMI_BEGIN(TEV_INITSEND, PVMI_INT(ME, encoding));
    int rc = begin_message(encoding);
    PVMI_END(TEV_INITSEND, PVMI_INT(MSB, rc));
    return rc;
}

int pvm_initsend(int encoding)
{
    return pvmi_call_is_watched() ? watched_initsend(encoding) : begin_message(encoding);
}

static int free_buffer(int mid)
{
    struct pvmi_message *m;
    int rc = mid ? pvmi_buffer_get(mid, &m) : 0;
    if (mid && !rc)
        pvmi_buffer_free(mid);
    return rc;
}

int pvm_freebuf(int mid)
{
    PVMI_BEGIN(TEV_FREEBUF, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_freebuf", free_buffer(mid));
    PVMI_END(TEV_FREEBUF, PVMI_INT(CC, rc));
    return rc;
}

int pvm_getsbuf(void)
{
    PVMI_BEGIN(TEV_GETSBUF);
    int rc = pvmi_send_buffer.mid;
    PVMI_END(TEV_GETSBUF, PVMI_INT(MSB, rc));
    return rc;
}

int pvm_getrbuf(void)
{
    PVMI_BEGIN(TEV_GETRBUF);
    int rc = pvmi_receive_buffer.mid;
    PVMI_END(TEV_GETRBUF, PVMI_INT(MRB, rc));
    return rc;
}

/* `choose` is one of pvmi_buffer_select_...(); 0 chooses none. */
static int activate(int mid, int (*choose)(int mid))
{
    struct pvmi_message *m;
    int rc = mid ? pvmi_buffer_get(mid, &m) : 0;
    return rc ? rc : choose(mid);
}

int pvm_setsbuf(int mid)
{
    PVMI_BEGIN(TEV_SETSBUF, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_setsbuf", activate(mid, pvmi_buffer_select_send));
    PVMI_END(TEV_SETSBUF, PVMI_INT(MSB, rc));
    return rc;
}

int pvm_setrbuf(int mid)
{
    PVMI_BEGIN(TEV_SETRBUF, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_setrbuf", activate(mid, pvmi_buffer_select_receive));
    PVMI_END(TEV_SETRBUF, PVMI_INT(MRB, rc));
    return rc;
}

static int visible_length(const struct pvmi_message *m)
{
    return m->length > INT_MAX ? INT_MAX : (int)m->length;
}

/* What has not been sent yet has no sender: it is ours. */
static int visible_source(const struct pvmi_message *m)
{
    return (int)(m->src ? m->src : pvmi_task.tid);
}

static int tell_about(int mid, int *len, int *tag, int *tid)
{
    struct pvmi_message *m;
    int rc = pvmi_buffer_get(mid, &m);
    if (rc)
        return rc;
    *len = visible_length(m);
    *tag = m->tag;
    *tid = visible_source(m);
    return 0;
}

int pvm_bufinfo(int mid, int *len, int *tag, int *tid)
{
    int length = -1, code = -1, source = -1;
    PVMI_BEGIN(TEV_BUFINFO, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_bufinfo", tell_about(mid, &length, &code, &source));
    PVMI_END(TEV_BUFINFO, PVMI_INT(CC, rc), PVMI_INT(INB, length), PVMI_INT(IMC, code), PVMI_INT(IST, source));
    if (rc >= 0 && len)
        *len = length;
    if (rc >= 0 && tag)
        *tag = code;
    if (rc >= 0 && tid)
        *tid = source;
    return rc;
}

static int get_info(int mid, struct pvmminfo *info)
{
    struct pvmi_message *m;
    int rc = pvmi_buffer_get(mid, &m);
    if (!rc)
        rc = info ? pvmi_task_need() : PVMI_EPARAM; /* src is our tid until the message is sent */
    if (!rc)
        *info = (struct pvmminfo){
            .len = visible_length(m),
            .ctx = (int)m->ctx,
            .tag = m->tag,
            .wid = m->wid,
            .enc = (int)m->enc,
            .crc = m->crc,
            .src = visible_source(m),
            .dst = (int)m->dst,
        };
    return rc;
}

int pvm_getminfo(int mid, struct pvmminfo *info)
{
    PVMI_BEGIN(TEV_GETMINFO, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_getminfo", get_info(mid, info));
    PVMI_END(TEV_GETMINFO, PVMI_INT(CC, rc));
    return rc;
}

static int set_info(int mid, const struct pvmminfo *info)
{
    struct pvmi_message *m;
    int rc = pvmi_buffer_get(mid, &m);
    if (!rc && !info)
        rc = PVMI_EPARAM;
    if (!rc) {
        m->ctx = (uint32_t)info->ctx;
        m->tag = info->tag;
        m->wid = info->wid;
        m->src = (pvmi_tid)info->src;
        m->dst = (pvmi_tid)info->dst;
    }
    return rc;
}

int pvm_setminfo(int mid, struct pvmminfo *info)
{
    PVMI_BEGIN(TEV_SETMINFO, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_setminfo", set_info(mid, info));
    PVMI_END(TEV_SETMINFO, PVMI_INT(CC, rc));
    return rc;
}
