/* pack.c - pvm_pk* and pvm_upk*: values into the active send buffer, and out of the active receive buffer. */
#include "pack.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "../core/error.h"
#include "buffer.h"
#include "call.h"
#include "compat.h"
#include "perror.h"
#include "trace.h"

int pvmi_pack(int type, const void *data, int n, int stride)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    if (!m || n < 0)
        return m ? PVMI_EPARAM : PvmNoBuf;
    int rc = m->enc == PVMI_ENC_TRACE && n ? pvmi_trace_pack_type(m, type, n) : 0;
    return rc ? rc : pvmi_message_pack(m, type, data, n, stride);
}

/* In an event of the program a string is bytes, as PVM has it. */
int pvmi_pack_string(const char *text)
{
    const struct pvmi_message *m = pvmi_send_buffer.m;
    if (text && m && m->enc == PVMI_ENC_TRACE)
        return pvmi_pack(PVM_BYTE, text, (int)strlen(text), 1);
    return m ? pvmi_message_pack_string(pvmi_send_buffer.m, text) : PvmNoBuf;
}

static int unpack(int type, void *data, int n, int stride)
{
    struct pvmi_message *m = pvmi_receive_buffer.m;
    return n < 0 ? PVMI_EPARAM : m ? pvmi_message_unpack(m, type, data, n, stride) : PvmNoBuf;
}

/* The active message, if all is as it is nearly always; else NULL. */
static inline struct pvmi_message *plain(const struct pvmi_active *active, const void *data, int n, int stride)
{
    return !pvmi_call_is_watched() && data && n > 0 && stride == 1 ? active->m : NULL;
}

/* What is not done the usual way is a function of its own: so the usual way needs no frame. */
#define BOTH(name, event, ctype, count, type)                                                                          \
    static __attribute__((noinline)) int pack_##name(ctype *data, int n, int stride)                                   \
    {                                                                                                                  \
        PVMI_BEGIN(TEV_PK##event, PVMI_LONG(PDA, data), PVMI_INT(PC, n), PVMI_INT(PSD, stride));                       \
        int rc = pvmi_return("pvm_pk" #name, pvmi_pack(type, data, n, stride));                                        \
        PVMI_END(TEV_PK##event, PVMI_INT(CC, rc));                                                                     \
        return rc;                                                                                                     \
    }                                                                                                                  \
    static __attribute__((noinline)) int unpack_##name(ctype *data, int n, int stride)                                 \
    {                                                                                                                  \
        PVMI_BEGIN(TEV_UPK##event, PVMI_LONG(PDA, data), PVMI_INT(PC, n), PVMI_INT(PSD, stride));                      \
        int rc = pvmi_return("pvm_upk" #name, unpack(type, data, n, stride));                                          \
        PVMI_END(TEV_UPK##event, PVMI_INT(CC, rc));                                                                    \
        return rc;                                                                                                     \
    }                                                                                                                  \
    int pvm_pk##name(ctype *data, int n, int stride)                                                                   \
    {                                                                                                                  \
        struct pvmi_message *m = plain(&pvmi_send_buffer, data, n, stride);                                            \
        if (m && pvmi_message_append(m, data, (size_t)n * count * sizeof *data))                                       \
            return 0;                                                                                                  \
        return pack_##name(data, n, stride);                                                                           \
    }                                                                                                                  \
    int pvm_upk##name(ctype *data, int n, int stride)                                                                  \
    {                                                                                                                  \
        struct pvmi_message *m = plain(&pvmi_receive_buffer, data, n, stride);                                         \
        if (m && pvmi_message_extract(m, data, (size_t)n * count * sizeof *data))                                      \
            return 0;                                                                                                  \
        return unpack_##name(data, n, stride);                                                                         \
    }

/* C type of an item's parts, and how many it has */
BOTH(byte, BYTE, char, 1, PVM_BYTE)
BOTH(short, SHORT, short, 1, PVM_SHORT)
BOTH(int, INT, int, 1, PVM_INT)
BOTH(long, LONG, long, 1, PVM_LONG)
BOTH(ushort, USHORT, unsigned short, 1, PVM_USHORT)
BOTH(uint, UINT, unsigned int, 1, PVM_UINT)
BOTH(ulong, ULONG, unsigned long, 1, PVM_ULONG)
BOTH(float, FLOAT, float, 1, PVM_FLOAT)
BOTH(double, DOUBLE, double, 1, PVM_DOUBLE)
BOTH(cplx, CPLX, float, 2, PVM_CPLX)
BOTH(dcplx, DCPLX, double, 2, PVM_DCPLX)

int pvm_pkstr(char *text)
{
    PVMI_BEGIN(TEV_PKSTR, PVMI_LONG(PDA, text));
    int rc = pvmi_return("pvm_pkstr", pvmi_pack_string(text));
    PVMI_END(TEV_PKSTR, PVMI_INT(CC, rc));
    return rc;
}

/* The caller vouches for the room at `text`: the interface has no way to say how much there is. */
static int unpack_string(char *text)
{
    struct pvmi_message *m = pvmi_receive_buffer.m;
    if (!m)
        return PvmNoBuf;
    return text ? pvmi_message_unpack_string(m, text, SIZE_MAX) : PVMI_EPARAM;
}

int pvm_upkstr(char *text)
{
    PVMI_BEGIN(TEV_UPKSTR, PVMI_LONG(PDA, text));
    int rc = pvmi_return("pvm_upkstr", unpack_string(text));
    PVMI_END(TEV_UPKSTR, PVMI_INT(CC, rc));
    return rc;
}

static int unpack_new_string(char **text)
{
    struct pvmi_message *m = pvmi_receive_buffer.m;
    if (!m)
        return PvmNoBuf;
    int64_t bytes = pvmi_message_string_bytes(m);
    if (bytes < 0)
        return (int)bytes;
    char *copy = malloc(bytes);
    int rc = copy ? pvmi_message_unpack_string(m, copy, bytes) : PVMI_ENOMEM;
    if (rc) {
        free(copy);
        return rc;
    }
    *text = copy;
    return 0;
}

int pvmupkstralloc(char **text)
{
    PVMI_BEGIN(PVMI_UNTRACED);
    int rc = pvmi_return("pvmupkstralloc", text ? unpack_new_string(text) : PVMI_EPARAM);
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
