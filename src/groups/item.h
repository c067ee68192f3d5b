/*
 * item.h - values of the eleven types that reduce, gather and scatter carry (PVM_BYTE .. PVM_ULONG).
 */
#ifndef PVMI_ITEM_H
#define PVMI_ITEM_H

#include <stddef.h>

/* Bytes of one value in memory; 0 for anything that is not such a type, PVM_STR included. */
size_t pvmi_item_bytes(int type);

/* Packs into the active send buffer and unpacks from the active receive buffer: n values, as many as memory holds. */
int pvmi_item_pack(int type, void *data, size_t n);
int pvmi_item_unpack(int type, void *data, size_t n);

#endif
