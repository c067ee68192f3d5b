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
    return rc ? pvmi_return(call, rc) : 0;
}

static int unpack(const char *call, int type, void *data, int n, int stride)
{
    struct pvmi_message *m = pvmi_receive_buffer.m;
    int rc = n < 0 ? PVMI_EPARAM : m ? pvmi_message_unpack(m, type, data, n, stride) : PvmNoBuf;
    return rc ? pvmi_return(call, rc) : 0;
}

#define BOTH(name, ctype, type)                                                                                        \
    int pvm_pk##name(ctype *data, int n, int stride)                                                                   \
    {                                                                                                                  \
        return pack("pvm_pk" #name, type, data, n, stride);                                                            \
    }                                                                                                                  \
    int pvm_upk##name(ctype *data, int n, int stride)                                                                  \
    {                                                                                                                  \
        return unpack("pvm_upk" #name, type, data, n, stride);                                                         \
    }

BOTH(byte, char, PVM_BYTE)
BOTH(short, short, PVM_SHORT)
BOTH(int, int, PVM_INT)
BOTH(long, long, PVM_LONG)
BOTH(ushort, unsigned short, PVM_USHORT)
BOTH(uint, unsigned int, PVM_UINT)
BOTH(ulong, unsigned long, PVM_ULONG)
BOTH(float, float, PVM_FLOAT)
BOTH(double, double, PVM_DOUBLE)
BOTH(cplx, float, PVM_CPLX)
BOTH(dcplx, double, PVM_DCPLX)

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
