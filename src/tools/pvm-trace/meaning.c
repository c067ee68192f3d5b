/* meaning.c - see meaning.h. */
#include "meaning.h"

const char *const meaning_category_names[CATEGORY_COUNT] = {"computing", "packing",         "sending",
                                                            "receiving", "group operation", "other call"};

static const uint8_t categories[TEV_MAX + 1] = {
    [TEV_PKBYTE... TEV_PKSTR] = CATEGORY_PACK,
    [TEV_UPKBYTE... TEV_UPKSTR] = CATEGORY_PACK,
    [TEV_PACKF] = CATEGORY_PACK,
    [TEV_UNPACKF] = CATEGORY_PACK,
    [TEV_INITSEND] = CATEGORY_PACK,
    [TEV_MKBUF] = CATEGORY_PACK,
    [TEV_FREEBUF] = CATEGORY_PACK,
    [TEV_SEND] = CATEGORY_SEND,
    [TEV_PSEND] = CATEGORY_SEND,
    [TEV_MCAST] = CATEGORY_SEND,
    [TEV_RECV] = CATEGORY_RECEIVE,
    [TEV_NRECV] = CATEGORY_RECEIVE,
    [TEV_TRECV] = CATEGORY_RECEIVE,
    [TEV_PRECV] = CATEGORY_RECEIVE,
    [TEV_PROBE] = CATEGORY_RECEIVE,
    [TEV_BARRIER] = CATEGORY_GROUP,
    [TEV_BCAST] = CATEGORY_GROUP,
    [TEV_JOINGROUP] = CATEGORY_GROUP,
    [TEV_LVGROUP] = CATEGORY_GROUP,
    [TEV_GSIZE] = CATEGORY_GROUP,
    [TEV_GETINST] = CATEGORY_GROUP,
    [TEV_GETTID] = CATEGORY_GROUP,
    [TEV_REDUCE] = CATEGORY_GROUP,
    [TEV_GATHER] = CATEGORY_GROUP,
    [TEV_SCATTER] = CATEGORY_GROUP,
};

enum category meaning_category(int what)
{
    return what <= TEV_MAX && categories[what] ? (enum category)categories[what] : CATEGORY_OTHER;
}

static int64_t bytes_of_type(int64_t type)
{
    static const uint8_t bytes[] = {
        [PVM_STR] = 1,    [PVM_BYTE] = 1,   [PVM_SHORT] = 2, [PVM_INT] = 4,    [PVM_FLOAT] = 4, [PVM_CPLX] = 8,
        [PVM_DOUBLE] = 8, [PVM_DCPLX] = 16, [PVM_LONG] = 8,  [PVM_USHORT] = 2, [PVM_UINT] = 4,  [PVM_ULONG] = 8};
    return type >= 0 && type < (int64_t)sizeof bytes ? bytes[type] : 1;
}

/* Most events carry the length in 32 bits. */
int64_t meaning_bytes(const struct event *e)
{
    if (e->what == TEV_PSEND)
        return event_number(e, TEV_DID_PC, 0) * bytes_of_type(event_number(e, TEV_DID_PDT, PVM_BYTE));
    return event_number(e, TEV_DID_MNB, 0) & UINT32_MAX;
}

bool meaning_receives(const struct event *e)
{
    bool receives = e->what == TEV_RECV || e->what == TEV_NRECV || e->what == TEV_TRECV || e->what == TEV_PRECV ||
                    e->what == TEV_MHF_INVOKE;
    if (!receives || e->phase != (e->what == TEV_MHF_INVOKE ? PHASE_ENTRY : PHASE_EXIT) ||
        event_number(e, TEV_DID_CC, 0) < 0)
        return false;
    if (e->what != TEV_PRECV && event_number(e, TEV_DID_MB, 0) <= 0)
        return false;
    bool of_the_system = event_number(e, TEV_DID_MC, 0) < 0; /* a message between libraries */
    return event_number(e, TEV_DID_SRC, 0) > 0 && !of_the_system;
}
