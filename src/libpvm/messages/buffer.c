/* buffer.c - the calls that deal with whole message buffers. */
#include <limits.h>
#include "core/error.h"
#include "dpvm.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/perror.h"
#include "libpvm/calls/enrol.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/route/remainder.h"
#include "libpvm/route/stream.h"
#include "libpvm/trace/trace.h"

/* The encoding word for a program's choice; 0: there is no such choice. */
static uint32_t encoding_word(int encoding)
{
    switch (encoding) {
    case PvmDataDefault:
        return PVMC_ENC_DEFAULT;
    case PvmDataTrace:
        return PVMC_ENC_TRACE;
    case PvmDataRaw:
        return pvmc_dsig_own();
    case PvmDataInPlace:
        return PVMC_ENC_INPLACE;
    default:
        return 0;
    }
}

static int make_buffer(uint32_t enc)
{
    struct pvmc_message *m = enc ? pvmc_message_new(enc) : NULL;
    if (!m)
        return enc ? PVMC_ENOMEM : PVMC_EPARAM;
    int rc = enc == PVMC_ENC_TRACE ? pvmi_trace_open_user(m) : 0;
    if (!rc)
        return pvmi_buffer_add(m);
    pvmc_message_unref(m);
    return rc;
}

int pvm_mkbuf(int encoding)
{
    PVMI_BEGIN(TEV_MKBUF, PVMI_INT(ME, encoding));
    int rc = pvmi_return("pvm_mkbuf", make_buffer(encoding_word(encoding)));
    PVMI_END(TEV_MKBUF, PVMI_INT(MB, rc));
    return rc;
}

static __attribute__((noinline)) int make_send_buffer(uint32_t enc)
{
    int old = pvmi_send_buffer.mid, mid = make_buffer(enc);
    if (mid > 0) {
        if (old)
            pvmi_buffer_free(old);
        pvmi_buffer_select_send(mid);
    }
    return mid;
}

/* The message of the old send buffer is reused if possible. */
static int replace_send_buffer(uint32_t enc)
{
    int mid = enc && enc != PVMC_ENC_TRACE ? pvmi_buffer_renew_send(enc) : 0;
    return mid ? mid : make_send_buffer(enc);
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

/* ---- pvm_initsendto ---- */

static int open_stream(int tid, int tag)
{
    static struct pvmi_leaver of_exit = {.leaves = pvmi_stream_cancel_all, .left = pvmi_stream_forget_all};
    struct pvmc_message *m = pvmi_send_buffer.m;
    pvmi_enrol_on_leave(&of_exit);
    m->src = pvmi_task.tid;
    m->dst = (pvmc_tid)tid;
    m->tag = tag;
    m->ctx = (uint32_t)pvmmyctx;
    return pvmi_stream_open(m);
}

static int begin_stream(int encoding, int tid, int tag)
{
    if (!encoding_word(encoding) || !pvmi_tid_names_task((pvmc_tid)tid) || tag < 0)
        return PVMC_EPARAM;
    int rc = pvmi_task_need(), mid = rc ? rc : replace_send_buffer(encoding_word(encoding));
    if (mid > 0)
        rc = open_stream(tid, tag);
    return rc ? rc : mid;
}

int pvm_initsendto(int encoding, int tid, int tag)
{
    PVMI_BEGIN(TEV_INITSEND, PVMI_INT(ME, encoding));
    int rc = pvmi_return("pvm_initsendto", begin_stream(encoding, tid, tag));
    PVMI_END(TEV_INITSEND, PVMI_INT(MSB, rc));
    return rc;
}

/* ---- buffers ---- */

static int free_buffer(int mid)
{
    struct pvmc_message *m;
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
    struct pvmc_message *m;
    int rc = mid ? pvmi_buffer_get(mid, &m) : 0;
    return rc ? rc : choose(mid);
}

/* A message that still comes cannot be packed into, nor sent. */
static int activate_whole(int mid)
{
    int rc = pvmi_remainder_await_all(mid);
    return rc ? rc : activate(mid, pvmi_buffer_select_send);
}

int pvm_setsbuf(int mid)
{
    PVMI_BEGIN(TEV_SETSBUF, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_setsbuf", activate_whole(mid));
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

static int visible_length(const struct pvmc_message *m)
{
    return m->length > INT_MAX ? INT_MAX : (int)m->length;
}

/* A message that has not been sent has no sender yet: it is ours. */
static int visible_source(const struct pvmc_message *m)
{
    return (int)(m->src ? m->src : pvmi_task.tid);
}

/*
 * Of a message that still comes only the length is not known yet. If its sender gives it up, the length is that of what
 * has come.
 */
static int tell_about(int mid, bool wants_length, int *len, int *tag, int *tid)
{
    struct pvmc_message *m;
    int end = wants_length ? pvmi_remainder_await_all(mid) : 0, rc = pvmi_buffer_get(mid, &m);
    if (rc)
        return rc;
    *len = visible_length(m);
    *tag = m->tag;
    *tid = visible_source(m);
    return end;
}

int pvm_bufinfo(int mid, int *len, int *tag, int *tid)
{
    int length = -1, code = -1, source = -1;
    PVMI_BEGIN(TEV_BUFINFO, PVMI_INT(MB, mid));
    int rc = pvmi_return("pvm_bufinfo", tell_about(mid, len, &length, &code, &source));
    PVMI_END(TEV_BUFINFO, PVMI_INT(CC, rc), PVMI_INT(INB, length), PVMI_INT(IMC, code), PVMI_INT(IST, source));
    bool told = length >= 0;
    if (told && len)
        *len = length;
    if (told && tag)
        *tag = code;
    if (told && tid)
        *tid = source;
    return rc;
}

static int get_info(int mid, struct pvmminfo *info)
{
    struct pvmc_message *m;
    int rc = pvmi_remainder_await_all(mid);
    if (!rc)
        rc = pvmi_buffer_get(mid, &m);
    if (!rc)
        rc = info ? pvmi_task_need() : PVMC_EPARAM; /* src is our tid until the message is sent */
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
    struct pvmc_message *m;
    int rc = pvmi_buffer_get(mid, &m);
    if (!rc && !info)
        rc = PVMC_EPARAM;
    if (!rc) {
        m->ctx = (uint32_t)info->ctx;
        m->tag = info->tag;
        m->wid = info->wid;
        m->src = (pvmc_tid)info->src;
        m->dst = (pvmc_tid)info->dst;
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
