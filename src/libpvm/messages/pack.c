/* pack.c - pvm_pk* and pvm_upk*: values into the active send buffer, and out of the active receive buffer. */
#include "pack.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "core/error.h"
#include "libpvm/engine/buffer.h"
#include "libpvm/base/call.h"
#include "libpvm/base/compat.h"
#include "libpvm/base/perror.h"
#include "libpvm/route/remainder.h"
#include "libpvm/trace/trace.h"

int pvmi_pack(int type, const void *data, int n, int stride)
{
    struct pvmc_message *m = pvmi_send_buffer.m;
    if (!m || n < 0)
        return m ? PVMC_EPARAM : PvmNoBuf;
    int rc = m->enc == PVMC_ENC_TRACE && n ? pvmi_trace_pack_type(m, type, n) : 0;
    return rc ? rc : pvmc_message_pack(m, type, data, n, stride);
}

/* In an event of the program a string is packed as bytes, as PVM does. */
int pvmi_pack_string(const char *text)
{
    const struct pvmc_message *m = pvmi_send_buffer.m;
    if (text && m && m->enc == PVMC_ENC_TRACE)
        return pvmi_pack(PVM_BYTE, text, (int)strlen(text), 1);
    return m ? pvmc_message_pack_string(pvmi_send_buffer.m, text) : PvmNoBuf;
}

int pvmi_unpack(int type, void *data, int n, int stride)
{
    int rc = n < 0 ? PVMC_EPARAM : pvmi_remainder_await_items(type, n);
    if (rc)
        return rc;
    struct pvmc_message *m = pvmi_receive_buffer.m;
    return m ? pvmc_message_unpack(m, type, data, n, stride) : PvmNoBuf;
}

int64_t pvmi_string_bytes(void)
{
    int64_t bytes = PVMC_ESHORT;
    int rc = 0;
    for (;;) {
        struct pvmc_message *m = pvmi_receive_buffer.m;
        bytes = m ? pvmc_message_string_bytes(m) : PvmNoBuf;
        if (bytes != PVMC_ESHORT || !m->partial)
            return bytes;
        rc = pvmi_remainder_await(m->length - m->position + 1);
        if (rc)
            return rc;
    }
}

/* The active message in the usual case; else NULL. */
static inline struct pvmc_message *plain(const struct pvmi_active *active, const void *data, int n, int stride)
{
    return !pvmi_call_is_watched() && data && n > 0 && stride == 1 ? active->m : NULL;
}

/* A separate function handles the unusual cases, so that the usual one needs no stack frame. */
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
        int rc = pvmi_return("pvm_upk" #name, pvmi_unpack(type, data, n, stride));                                     \
        PVMI_END(TEV_UPK##event, PVMI_INT(CC, rc));                                                                    \
        return rc;                                                                                                     \
    }                                                                                                                  \
    int pvm_pk##name(ctype *data, int n, int stride)                                                                   \
    {                                                                                                                  \
        struct pvmc_message *m = plain(&pvmi_send_buffer, data, n, stride);                                            \
        if (m && pvmc_message_append(m, data, (size_t)n * count * sizeof *data, count * sizeof *data))                 \
            return 0;                                                                                                  \
        return pack_##name(data, n, stride);                                                                           \
    }                                                                                                                  \
    int pvm_upk##name(ctype *data, int n, int stride)                                                                  \
    {                                                                                                                  \
        struct pvmc_message *m = plain(&pvmi_receive_buffer, data, n, stride);                                         \
        if (m && pvmc_message_extract(m, data, (size_t)n * count * sizeof *data))                                      \
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

int pvmi_unpack_string(char *text)
{
    if (!pvmi_receive_buffer.m || !text)
        return pvmi_receive_buffer.m ? PVMC_EPARAM : PvmNoBuf;
    int64_t bytes = pvmi_receive_buffer.m->partial ? pvmi_string_bytes() : 0;
    if (bytes < 0 && bytes != PVMC_ESHORT)
        return (int)bytes;
    return pvmc_message_unpack_string(pvmi_receive_buffer.m, text, SIZE_MAX);
}

int pvm_upkstr(char *text)
{
    PVMI_BEGIN(TEV_UPKSTR, PVMI_LONG(PDA, text));
    int rc = pvmi_return("pvm_upkstr", pvmi_unpack_string(text));
    PVMI_END(TEV_UPKSTR, PVMI_INT(CC, rc));
    return rc;
}

static int unpack_new_string(char **text)
{
    int64_t bytes = pvmi_string_bytes();
    if (bytes < 0)
        return (int)bytes;
    char *copy = malloc(bytes);
    int rc = copy ? pvmc_message_unpack_string(pvmi_receive_buffer.m, copy, bytes) : PVMC_ENOMEM;
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
    int rc = pvmi_return("pvmupkstralloc", text ? unpack_new_string(text) : PVMC_EPARAM);
    PVMI_END(PVMI_UNTRACED);
    return rc;
}
