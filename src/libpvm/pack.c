/* pack.c - pvm_pk* and pvm_upk*: values into the active send buffer, and out of the active receive buffer. */
#include <stdint.h>
#include <stdlib.h>
#include "../core/error.h"
#include "buffer.h"
#include "compat.h"
#include "perror.h"

static int pack(const char *call, int type, const void *data, int n, int stride)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    int rc = n < 0 ? PVMI_EPARAM : m ? pvmi_message_pack(m, type, data, n, stride) : PvmNoBuf;
    return pvmi_return(call, rc);
}

static int unpack(const char *call, int type, void *data, int n, int stride)
{
    struct pvmi_message *m = pvmi_receive_buffer.m;
    int rc = n < 0 ? PVMI_EPARAM : m ? pvmi_message_unpack(m, type, data, n, stride) : PvmNoBuf;
    return pvmi_return(call, rc);
}

/* Whether the arguments are as they are nearly always. */
static inline bool is_plain(const struct pvmi_message *m, const void *data, int n, int stride)
{
    return m && data && n > 0 && stride == 1;
}

#define BOTH(name, ctype, count, type)                                                                                 \
    int pvm_pk##name(ctype *data, int n, int stride)                                                                   \
    {                                                                                                                  \
        struct pvmi_message *m = pvmi_send_buffer.m;                                                                   \
        if (is_plain(m, data, n, stride) && pvmi_message_append(m, data, (size_t)n * count * sizeof *data))            \
            return 0;                                                                                                  \
        return pack("pvm_pk" #name, type, data, n, stride);                                                            \
    }                                                                                                                  \
    int pvm_upk##name(ctype *data, int n, int stride)                                                                  \
    {                                                                                                                  \
        struct pvmi_message *m = pvmi_receive_buffer.m;                                                                \
        if (is_plain(m, data, n, stride) && pvmi_message_extract(m, data, (size_t)n * count * sizeof *data))           \
            return 0;                                                                                                  \
        return unpack("pvm_upk" #name, type, data, n, stride);                                                         \
    }

/* C type of an item's parts, and how many it has */
BOTH(byte, char, 1, PVM_BYTE)
BOTH(short, short, 1, PVM_SHORT)
BOTH(int, int, 1, PVM_INT)
BOTH(long, long, 1, PVM_LONG)
BOTH(ushort, unsigned short, 1, PVM_USHORT)
BOTH(uint, unsigned int, 1, PVM_UINT)
BOTH(ulong, unsigned long, 1, PVM_ULONG)
BOTH(float, float, 1, PVM_FLOAT)
BOTH(double, double, 1, PVM_DOUBLE)
BOTH(cplx, float, 2, PVM_CPLX)
BOTH(dcplx, double, 2, PVM_DCPLX)

int pvm_pkstr(char *text)
{
    struct pvmi_message *m = pvmi_send_buffer.m;
    return pvmi_return("pvm_pkstr", m ? pvmi_message_pack_string(m, text) : PvmNoBuf);
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
    return pvmi_return("pvm_upkstr", unpack_string(text));
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
    return pvmi_return("pvmupkstralloc", text ? unpack_new_string(text) : PVMI_EPARAM);
}
