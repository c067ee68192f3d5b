/* pkmesg.c - messages packed into messages. */
#include <string.h>
#include "../core/error.h"
#include "buffer.h"
#include "call.h"
#include "perror.h"
#include "task.h"

/* The header that travels with a packed message: these words as uints, then the body's length as an unsigned long. */
enum { WORD_CTX, WORD_TAG, WORD_WID, WORD_ENC, WORD_DSIG, WORD_CRC, WORD_SRC, WORD_DST, WORD_COUNT };

static int append_header(struct pvmi_message *to, const struct pvmi_message *from)
{
    unsigned words[WORD_COUNT] = {
        [WORD_CTX] = from->ctx,
        [WORD_TAG] = (unsigned)from->tag,
        [WORD_WID] = (unsigned)from->wid,
        [WORD_ENC] = pvmi_message_is_inplace(from) ? from->dsig : from->enc,
        [WORD_DSIG] = from->dsig,
        [WORD_CRC] = (unsigned)from->crc,
        [WORD_SRC] = from->src ? from->src : pvmi_task.tid,
        [WORD_DST] = from->dst,
    };
    unsigned long length = pvmi_message_bytes(from);
    int rc = pvmi_message_pack(to, PVM_UINT, words, WORD_COUNT, 1);
    return rc ? rc : pvmi_message_pack(to, PVM_ULONG, &length, 1, 1);
}

/* The message to pack and the buffer to pack it into. */
static int find_both(int mid, struct pvmi_message **from, struct pvmi_message **to)
{
    int rc = pvmi_buffer_get(mid, from);
    if (rc)
        return rc;
    *to = pvmi_send_buffer.m;
    if (!*to)
        return PvmNoBuf;
    return *from == *to ? PVMI_EPARAM : 0;
}

static int pack_message(int mid)
{
    struct pvmi_message *from, *to;
    int rc = find_both(mid, &from, &to);
    if (rc)
        return rc;
    if (pvmi_message_is_inplace(to))
        return PVMI_EUNSUPPORTED;
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
    struct pvmi_message *from, *to;
    int rc = find_both(mid, &from, &to);
    if (rc)
        return rc;
    if (from->enc != to->enc || from->dsig != to->dsig || pvmi_message_is_inplace(to))
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

static int read_header(struct pvmi_message *m, unsigned words[WORD_COUNT], unsigned long *length)
{
    int rc = pvmi_message_unpack(m, PVM_UINT, words, WORD_COUNT, 1);
    return rc ? rc : pvmi_message_unpack(m, PVM_ULONG, length, 1, 1);
}

static int unpack_message(void)
{
    struct pvmi_message *from = pvmi_receive_buffer.m;
    unsigned words[WORD_COUNT];
    unsigned long length;
    if (!from)
        return PvmNoBuf;
    int rc = read_header(from, words, &length);
    if (rc)
        return rc;
    if (length > from->length - from->position)
        return PVMI_ESHORT;
    struct pvmi_message *m = pvmi_message_new(words[WORD_ENC]);
    if (!m || (length && pvmi_message_pack_bytes(m, from->mem->data + from->position, length))) {
        pvmi_message_unref(m);
        return PVMI_ENOMEM;
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
