/* pack.h - what the pvm_pk* and pvm_upk* calls, pvm_packf() and pvm_unpackf() share. */
#ifndef PVMI_PACK_H
#define PVMI_PACK_H

#include <stdint.h>

/* Into the active send buffer, as pvmc_message_pack() and ..._pack_string(); PvmNoBuf if there is none. */
int pvmi_pack(int type, const void *data, int n, int stride);
int pvmi_pack_string(const char *text);

/*
 * Out of the active receive buffer, as pvmc_message_unpack() and so on; PvmNoBuf if there is none. They wait for what
 * they need of a message that still comes, and have the errors of pvmi_remainder_await(). The caller vouches for the
 * room at `text`: the interface has no way to say how much there is.
 */
int pvmi_unpack(int type, void *data, int n, int stride);
int64_t pvmi_string_bytes(void);
int pvmi_unpack_string(char *text);

#endif
