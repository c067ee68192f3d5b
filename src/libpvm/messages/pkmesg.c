/* pkmesg.c - messages packed into messages. */
#include <string.h>
#include "core/error.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/perror.h"
#include "libpvm/calls/enrol.h"
#include "libpvm/route/remainder.h"

/* The header that travels with a packed message: these words as uints, then the body's length as an unsigned long. */
enum { WORD_CTX, WORD_TAG, WORD_WID, WORD_ENC, WORD_DSIG, WORD_CRC, WORD_SRC, WORD_DST, WORD_COUNT };

static int append_header(struct pvmc_message *to, const struct pvmc_message *from)
{
    unsigned words[WORD_COUNT] = {
        [WORD_CTX] = from->ctx,
        [WORD_TAG] = (unsigned)from->tag,
        [WORD_WID] = (unsigned)from->wid,
        [WORD_ENC] = pvmc_message_is_inplace(from) ? from->dsig : from->enc,
        [WORD_DSIG] = from->dsig,
        [WORD_CRC] = (unsigned)from->crc,
        [WORD_SRC] = from->src ? from->src : pvmi_task.tid,
        [WORD_DST] = from->dst,
    };
    unsigned long length = pvmc_message_bytes(from);
    int rc = pvmc_message_pack(to, PVM_UINT, words, WORD_COUNT, 1);
    return rc ? rc : pvmc_message_pack(to, PVM_ULONG, &length, 1, 1);
}

/* The message to pack and the buffer to pack it into. */
static int find_both(int mid, struct pvmc_message **from, struct pvmc_message **to)
{
    int rc = pvmi_remainder_await_all(mid);
    if (!rc)
        rc = pvmi_buffer_get(mid, from);
    if (rc)
        return rc;
    *to = pvmi_send_buffer.m;
    if (!*to)
        return PvmNoBuf;
    return *from == *to ? PVMC_EPARAM : 0;
}

static int pack_message(int mid)
{
    struct pvmc_message *from, *to;
    int rc = find_both(mid, &from, &to);
    if (rc)
        return rc;
    if (pvmc_message_is_inplace(to))
        return PVMC_EUNSUPPORTED;
    uint64_t start = to->length;
    rc = append_header(to, from);
    if (!rc)
        rc = pvmi_buffer_append(to, from);
    if (rc)
        to->length = start;
    return rc;
}

int pvm_pkmesg(int mid)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_pkmesg", pack_message(mid));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

/* Bodies can be joined if they are in one format and no receiver could tell. */
static int pack_body(int mid)
{
    struct pvmc_message *from, *to;
    int rc = find_both(mid, &from, &to);
    if (rc)
        return rc;
    if (from->enc != to->enc || from->dsig != to->dsig || pvmc_message_is_inplace(to))
        return PvmMismatch;
    return pvmi_buffer_append(to, from);
}

int pvm_pkmesgbody(int mid)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_pkmesgbody", pack_body(mid));
    PVMI_END(PVMI_UNTRACED);
    return rc;
}

static int read_header(struct pvmc_message *m, unsigned words[WORD_COUNT], unsigned long *length)
{
    int rc = pvmc_message_unpack(m, PVM_UINT, words, WORD_COUNT, 1);
    return rc ? rc : pvmc_message_unpack(m, PVM_ULONG, length, 1, 1);
}

static int unpack_message(void)
{
    int rc = pvmi_remainder_await_all(pvmi_receive_buffer.mid);
    struct pvmc_message *from = pvmi_receive_buffer.m;
    unsigned words[WORD_COUNT];
    unsigned long length;
    if (rc || !from)
        return rc ? rc : PvmNoBuf;
    rc = read_header(from, words, &length);
    if (rc)
        return rc;
    if (length > from->length - from->position)
        return PVMC_ESHORT;
    struct pvmc_message *m = pvmc_message_new(words[WORD_ENC]);
    if (!m || (length && pvmc_message_pack_bytes(m, from->mem->data + from->position, length))) {
        pvmc_message_unref(m);
        return PVMC_ENOMEM;
    }
    from->position += length;
    m->ctx = words[WORD_CTX];
    m->tag = (int)words[WORD_TAG];
    m->wid = (int)words[WORD_WID];
    m->dsig = words[WORD_DSIG];
    m->crc = (int)words[WORD_CRC];
    m->src = words[WORD_SRC];
    m->dst = words[WORD_DST];
    return pvmi_buffer_add(m);
}

int pvm_upkmesg(void)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvm_upkmesg", unpack_message());
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
