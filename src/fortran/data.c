/*
 * Packing and unpacking: Fortran passes the kind of data as an argument; C has a function for each kind.
 */
#include "fortran.h"

/* The kinds, numbered as in fpvm3.h. A STRING is packed as its characters, without a NUL. INTEGER*8 is supported if
 * long has 8 bytes. */
enum kind { STRING = PVM_STR, BYTE1, INTEGER2, INTEGER4, REAL4, COMPLEX8, REAL8, COMPLEX16, INTEGER8 };

_Static_assert(sizeof(int) == 4 && sizeof(short) == 2, "INTEGER*4 is int, INTEGER*2 is short");

int fpvm_pack(int what, void *data, int n, int stride)
{
    switch (what) {
    case STRING:
    case BYTE1:
        return pvm_pkbyte(data, n, stride);
    case INTEGER2:
        return pvm_pkshort(data, n, stride);
    case INTEGER4:
        return pvm_pkint(data, n, stride);
    case REAL4:
        return pvm_pkfloat(data, n, stride);
    case COMPLEX8:
        return pvm_pkcplx(data, n, stride);
    case REAL8:
        return pvm_pkdouble(data, n, stride);
    case COMPLEX16:
        return pvm_pkdcplx(data, n, stride);
    case INTEGER8:
        return sizeof(long) == 8 ? pvm_pklong(data, n, stride) : PvmNotImpl;
    default:
        return PvmBadParam;
    }
}

int fpvm_unpack(int what, void *data, int n, int stride)
{
    switch (what) {
    case STRING:
    case BYTE1:
        return pvm_upkbyte(data, n, stride);
    case INTEGER2:
        return pvm_upkshort(data, n, stride);
    case INTEGER4:
        return pvm_upkint(data, n, stride);
    case REAL4:
        return pvm_upkfloat(data, n, stride);
    case COMPLEX8:
        return pvm_upkcplx(data, n, stride);
    case REAL8:
        return pvm_upkdouble(data, n, stride);
    case COMPLEX16:
        return pvm_upkdcplx(data, n, stride);
    case INTEGER8:
        return sizeof(long) == 8 ? pvm_upklong(data, n, stride) : PvmNotImpl;
    default:
        return PvmBadParam;
    }
}
