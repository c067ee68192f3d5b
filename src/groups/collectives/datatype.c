#include "datatype.h"
#include <limits.h>
#include "pvm3.h"

size_t pvmg_datatype_bytes(int type)
{
    static const size_t bytes[] = {
        [PVM_BYTE] = 1,
        [PVM_SHORT] = sizeof(short),
        [PVM_INT] = sizeof(int),
        [PVM_FLOAT] = sizeof(float),
        [PVM_CPLX] = 2 * sizeof(float),
        [PVM_DOUBLE] = sizeof(double),
        [PVM_DCPLX] = 2 * sizeof(double),
        [PVM_LONG] = sizeof(long),
        [PVM_USHORT] = sizeof(unsigned short),
        [PVM_UINT] = sizeof(unsigned),
        [PVM_ULONG] = sizeof(unsigned long),
    };

    return type > 0 && type < (int)(sizeof(bytes) / sizeof(bytes[0])) ? bytes[type] : 0;
}

static int pack(int type, void *data, int n)
{
    switch (type) {
    case PVM_BYTE:
        return pvm_pkbyte(data, n, 1);
    case PVM_SHORT:
        return pvm_pkshort(data, n, 1);
    case PVM_INT:
        return pvm_pkint(data, n, 1);
    case PVM_FLOAT:
        return pvm_pkfloat(data, n, 1);
    case PVM_CPLX:
        return pvm_pkcplx(data, n, 1);
    case PVM_DOUBLE:
        return pvm_pkdouble(data, n, 1);
    case PVM_DCPLX:
        return pvm_pkdcplx(data, n, 1);
    case PVM_LONG:
        return pvm_pklong(data, n, 1);
    case PVM_USHORT:
        return pvm_pkushort(data, n, 1);
    case PVM_UINT:
        return pvm_pkuint(data, n, 1);
    case PVM_ULONG:
        return pvm_pkulong(data, n, 1);
    default:
        return PvmBadParam;
    }
}

static int unpack(int type, void *data, int n)
{
    switch (type) {
    case PVM_BYTE:
        return pvm_upkbyte(data, n, 1);
    case PVM_SHORT:
        return pvm_upkshort(data, n, 1);
    case PVM_INT:
        return pvm_upkint(data, n, 1);
    case PVM_FLOAT:
        return pvm_upkfloat(data, n, 1);
    case PVM_CPLX:
        return pvm_upkcplx(data, n, 1);
    case PVM_DOUBLE:
        return pvm_upkdouble(data, n, 1);
    case PVM_DCPLX:
        return pvm_upkdcplx(data, n, 1);
    case PVM_LONG:
        return pvm_upklong(data, n, 1);
    case PVM_USHORT:
        return pvm_upkushort(data, n, 1);
    case PVM_UINT:
        return pvm_upkuint(data, n, 1);
    case PVM_ULONG:
        return pvm_upkulong(data, n, 1);
    default:
        return PvmBadParam;
    }
}

/* Calls `one` repeatedly, for at most INT_MAX values each. */
static int in_pieces(int (*one)(int, void *, int), int type, void *data, size_t n)
{
    size_t bytes = pvmg_datatype_bytes(type);
    int code = PvmOk;

    for (char *at = data; n > 0 && code >= 0;) {
        int piece = n > INT_MAX ? INT_MAX : (int)n;

        code = one(type, at, piece);
        at += (size_t)piece * bytes;
        n -= (size_t)piece;
    }
    return code;
}

int pvmg_datatype_pack(int type, void *data, size_t n)
{
    return in_pieces(pack, type, data, n);
}

int pvmg_datatype_unpack(int type, void *data, size_t n)
{
    return in_pieces(unpack, type, data, n);
}
