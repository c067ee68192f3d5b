/*
 * datatype.h - the eleven types of values in reduce, gather and scatter (PVM_BYTE .. PVM_ULONG).
 */
#ifndef PVMG_DATATYPE_H
#define PVMG_DATATYPE_H

#include <stddef.h>

/* Bytes of one value in memory; 0 for any other type, including PVM_STR. */
size_t pvmg_datatype_bytes(int type);

/* Pack n values into the active send buffer and unpack them from the active receive buffer. n may exceed INT_MAX. */
int pvmg_datatype_pack(int type, void *data, size_t n);
int pvmg_datatype_unpack(int type, void *data, size_t n);

#endif
